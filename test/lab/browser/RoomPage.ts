/** A visitor's steps in a signal room, and the browser's reports. */
import { Effect } from "effect"
import type { Page, Request } from "playwright-core"
import { type RoomClient, sendSignal } from "../server/Rooms.ts"

export const inviteOf = ({ id, token }: RoomClient) => `/signals/#room=${id}&token=${token}`

export const makeRoom = async (page: Page, name: string) => {
  await page.getByLabel("Name of the room").fill(name)
  await page.getByRole("button", { name: "Make the room" }).click()
  await page.getByRole("heading", { name, level: 1 }).waitFor()
}

export const write = async (page: Page, sender: string, text: string, mode = "Calm") => {
  await page.getByLabel("Your name").fill(sender)
  await page.getByRole("radio", { name: mode }).check()
  await page.locator("#text").fill(text)
  await page.getByRole("button", { name: "Send" }).click()
}

/** `Signal 1`, `Signal 2` … in a room, as many as one minute allows. */
export const sendSignals = (guest: RoomClient, count: number, from: number) =>
  Effect.forEach(Array.from({ length: count }), (_, index) =>
    sendSignal(guest, { text: `Signal ${from + index + 1}`, mode: index % 2 === 0 ? "calm" : "ping" }),
  )

/** The queries of the browser's requests to the room while `run` ran. */
export const queriesOf = async (page: Page, run: () => Promise<void>) => {
  const queries: Array<string> = []
  const note = (request: Request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith("/api/rooms/")) queries.push(search)
  }
  page.on("request", note)
  await run()
  page.off("request", note)
  return queries
}

export const hide = (page: Page, hidden: boolean) =>
  page.evaluate(
    (state) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: state })
      document.dispatchEvent(new Event("visibilitychange"))
    },
    hidden ? "hidden" : "visible",
  )

/** Every animation and every AudioContext the page starts, in the order of their coming. */
export const sensations = (page: Page) =>
  page.addInitScript(() => {
    const played: Array<string> = []
    Reflect.set(window, "played", played)
    const animate = Element.prototype.animate
    Element.prototype.animate = function (...parts) {
      played.push("light")
      return animate.apply(this, parts)
    }
    const Audio = window.AudioContext
    window.AudioContext = class extends Audio {
      constructor() {
        super()
        played.push("audio")
      }
    }
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (when) {
      played.push("tone")
      start.call(this, when)
    }
  })

export const played = (page: Page): Promise<ReadonlyArray<string>> => page.evaluate(() => Reflect.get(window, "played"))
