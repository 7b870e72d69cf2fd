/** Every page and every state of the room fits a phone and a desk, by day and by night, and suits a screen reader. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { browser, isAccessible } from "../lab/browser/Browser.ts"
import { guide } from "../lab/browser/Guide.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"
import { inviteOf, makeRoom } from "../lab/browser/RoomPage.ts"
import { newRoom, sendSignal } from "../lab/server/Rooms.ts"

/** A phone, a desk by day and by night, and a desk enlarged to 200 % in forced colours: the desk shows all that the phone does. */
const looks = [
  { width: 320, height: 700, colorScheme: "light", forcedColors: "none" },
  { width: 1440, height: 900, colorScheme: "light", forcedColors: "none" },
  { width: 1440, height: 900, colorScheme: "dark", forcedColors: "none" },
  { width: 720, height: 900, colorScheme: "light", forcedColors: "active" },
] as const

const colours = ["color-contrast", "link-in-text-block"]

/**
 * The parts in view, elements by name and class below their parent. Entries of a list without a part of their own are marked as
 * known, and wherever they stand, elements of parts that came before as repeated.
 */
const partsOf = (page: Page) =>
  page.evaluate(() => {
    const nameOf = (one: Element | null) => `${one?.localName}.${one?.getAttribute("class")}`
    const partsIn = (root: Element) =>
      [root, ...root.querySelectorAll("*")]
        .filter((one) => one.checkVisibility())
        .map((one) => `${nameOf(one.parentElement)} > ${nameOf(one)}`)
    const listed = new Set<string>()
    for (const entry of document.querySelectorAll("main :is(article, li, tr)")) {
      if (entry.parentElement?.closest("article, li, tr")) continue
      const parts = partsIn(entry)
      entry.toggleAttribute(
        "data-known",
        parts.every((part) => listed.has(part)),
      )
      for (const part of parts) listed.add(part)
    }
    const shown = new Set<string>()
    for (const one of document.querySelectorAll("main *")) {
      one.removeAttribute("data-repeated")
      if (one.closest("[data-known], [data-repeated]")) continue
      const parts = partsIn(one)
      one.toggleAttribute(
        "data-repeated",
        parts.every((part) => shown.has(part)),
      )
      for (const part of parts.slice(0, 1)) shown.add(part)
    }
    return partsIn(document.body)
  })

/**
 * In each look, nothing is wider than the window, and nothing is wrong for a screen reader. A page is read where it shows a part
 * that was not read before, and for its colours in each look.
 */
const judge = async (page: Page, state: string, read: Set<string>) => {
  for (const { height, width, ...media } of looks) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia(media)
    const palette = JSON.stringify(media)
    const look = `${state}, ${palette}, ${width} pixels wide`
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, look)
    const parts = await partsOf(page)
    const isNew = parts.some((part) => !read.has(part))
    if (isNew || parts.some((part) => !read.has(`${palette} ${part}`)))
      await isAccessible(page, look, isNew ? undefined : colours)
    for (const part of parts) read.add(part).add(`${palette} ${part}`)
  }
}

guide("a page", (it) => {
  it("is accessible and fits the window in every look, with its folds open", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/", { bypassCSP: true, reducedMotion: "reduce" })
    const paths = await run(guidePaths)
    const read = new Set<string>()
    for (const path of [...paths, ...beside]) {
      await page.goto(`${url}${path}`)
      await page
        .locator("details")
        .evaluateAll((all) => all.slice(0, 40).forEach((one) => one.setAttribute("open", "")))
      await judge(page, path, read)
    }
  })
})

browser("the signal room", (it) => {
  it("is accessible and fits the window in every state and look", async ({ run, url, visit }) => {
    const options = { bypassCSP: true }
    const read = new Set<string>()
    const { page: start } = await visit("/signals/", options)
    await makeRoom(start, "Night shift")
    await start.getByRole("button", { name: "Send" }).click()
    await judge(start, "a refused signal", read)

    const guest = await run(newRoom(url))
    const invite = inviteOf(guest)
    for (const message of [
      { sender: "Wren", text: "Tests are running.", mode: "calm" },
      { sender: "Mara", senderKind: "person", text: "Coffee first, then the migration.", mode: "ping" },
      { sender: "Wren", senderKind: "agent", text: "W".repeat(160), mode: "spark" },
      { sender: "ليلى", text: "مرحبا بالجميع، البناء أخضر", mode: "celebrate" },
    ])
      await run(sendSignal(guest, message))
    const { page } = await visit(invite, options)
    await page.getByText("Tests are running.").waitFor()
    await run(
      sendSignal(guest, { sender: "Wren", senderKind: "agent", text: "The build is green.", mode: "celebrate" }),
    )
    await page.getByText("Celebrate, three rising pulses").waitFor()
    await judge(page, "news", read)
    await page.context().setOffline(true)
    await page.locator("#state", { hasText: "No connection to the server." }).waitFor()
    await judge(page, "offline", read)
    await page.context().setOffline(false)
    await page.goto(`${url}${invite.slice(0, -1)}`)
    await page.getByRole("heading", { name: "This invite is incomplete" }).waitFor()
    await judge(page, "an incomplete invite", read)
  })
})
