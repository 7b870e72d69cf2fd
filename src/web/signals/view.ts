/** Shows the page's states; every text is set as text. */
import { lifetimeDays } from "../../../schema/room/Limits.ts"
import { explained, type Message, type Problem } from "./api.ts"
import { bothWords } from "./clock.ts"
import { make } from "../v2/page/dom.ts"
import { drawing, find, inTime } from "./dom.ts"
import * as Log from "./log.ts"
import { inWords } from "./patterns.ts"

const states = {
  start: [find("start", HTMLElement), find("start-title", HTMLElement)],
  loading: [find("loading", HTMLElement), find("loading-title", HTMLElement)],
  room: [find("room", HTMLElement), find("room-name", HTMLElement)],
  ended: [find("ended", HTMLElement), find("ended-title", HTMLElement)],
} as const

export type State = keyof typeof states
let present: State | undefined

/** Shows one state and moves the focus to its heading, for keyboard and screen reader. */
export const show = (state: State) => {
  if (present === state) return
  for (const [name, [section]] of Object.entries(states)) section.hidden = name !== state
  if (present !== undefined) states[state][1].focus({ preventScroll: true })
  if (present !== undefined) window.scrollTo(0, 0)
  present = state
}

export const isShown = (state: State) => present === state

/** The ways a room can be over for its visitor, with the next step. */
const endings = {
  DELETED: ["The room is deleted", "Its signals are gone and the invite no longer works, here or anywhere."],
  NOT_FOUND: [
    "There is no such room",
    "It was deleted, or it ended and was cleared away. If you expected one, ask for a new invite link.",
  ],
  EXPIRED: [
    "This room has ended",
    `Rooms last exactly ${lifetimeDays} days. Its signals are removed and cannot be read again.`,
  ],
  UNAUTHORIZED: [
    "This invite does not open the room",
    "The key in the link is not this room's. Open the whole link again, exactly as you received it.",
  ],
  BROKEN: [
    "This invite is incomplete",
    "Part of the link is missing or was changed on the way. Copy the whole link again and open it.",
  ],
} as const

export type Ending = keyof typeof endings

const isEnding = (code: string): code is Ending => code in endings

export const end = (code: string) => {
  const [title, words] = endings[isEnding(code) ? code : "NOT_FOUND"]
  find("ended-title", HTMLElement).textContent = title
  find("ended-words", HTMLElement).textContent = words
  document.title = `${title} · Signal room`
  show("ended")
}

/** The meaning of a refusal for a waiting visitor, and the time of the next attempt. */
export const problem = (problem: Problem, seconds: number | undefined) => {
  const next = seconds === undefined ? "" : ` Trying again in ${inTime(seconds)}.`
  return explained(problem, {
    offline: `No connection to the room.${next}`,
    limited: () => `Too many requests from your network.${next}`,
    away: `The room cannot answer now.${next}`,
    refused: (why) => `${why}${next}`,
  })
}

export const room = (name: string, expiresAt: string, serverTime: string) => {
  const heading = find("room-name", HTMLElement)
  if (heading.textContent !== name) heading.textContent = name
  const ends = find("room-ends", HTMLTimeElement)
  ends.dateTime = expiresAt
  say("room-ends", bothWords(expiresAt))
  say("room-left", `, in ${inTime((Date.parse(expiresAt) - Date.parse(serverTime)) / 1000)}`)
  document.title = `${name} · Signal room`
}

/** A live region speaks on every write, so only changes are written. */
export const say = (id: string, words: string) => {
  const element = find(id, HTMLElement)
  if (element.textContent !== words) element.textContent = words
}

/** The state of the connection; the mark beside the words has a shape for each. */
export const state = (how: "well" | "resting" | "trouble", words: string) => {
  find("state", HTMLElement).className = `state state--${how} small`
  say("state", words)
}

export const clear = () => {
  Log.clear()
  rest()
}

const lamp = find("lamp", HTMLElement)

const rest = () => {
  lamp.className = "lamp"
  find("lamp-glyph", HTMLElement).replaceChildren(drawing("rest"))
  say("lamp-mode", "The lamp rests")
  say("lamp-from", "The next signal shows here.")
}

/** The lamp's steady part: glyph, word, rhythm and sender repeat everything that light and sound say. */
export const light = ({ mode, sender, senderKind }: Message) => {
  lamp.className = `lamp ${mode}`
  find("lamp-glyph", HTMLElement).replaceChildren(drawing(mode))
  say("lamp-mode", inWords(mode))
  find("lamp-from", HTMLElement).replaceChildren("From ", make("bdi", {}, sender), `, ${senderKind}`)
}
