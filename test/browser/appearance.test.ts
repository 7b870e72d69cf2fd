/** Every page and every state of the room fits a phone and a desk, by day and by night, and suits a screen reader. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { browser, isAccessible } from "../lab/browser/Browser.ts"
import { guide } from "../lab/browser/Guide.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"
import { inviteOf, makeRoom } from "../lab/browser/RoomPage.ts"
import { newRoom, send } from "../lab/server/Rooms.ts"

/** A phone by day and by night, a desk, and a desk enlarged to 200 % in forced colours. */
const looks = [
  { width: 320, height: 700, colorScheme: "light" },
  { width: 320, height: 700, colorScheme: "dark" },
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 720, height: 900, colorScheme: "light", forcedColors: "active" },
] as const

/** In each look, nothing is wider than the window, and nothing is wrong for a screen reader. */
const judge = async (page: Page, state: string) => {
  for (const { height, width, ...media } of looks) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ forcedColors: null, ...media })
    const look = `${state}, ${JSON.stringify(media)}, ${width} pixels wide`
    // Colours alone differ by night: the other rules have nothing new to read.
    await isAccessible(page, look, media.colorScheme === "dark" ? ["color-contrast", "link-in-text-block"] : undefined)
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, look)
  }
}

guide("a page", (it) => {
  it("is accessible and fits the window in every look, with its folds open", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/", { bypassCSP: true, reducedMotion: "reduce" })
    const paths = await run(guidePaths)
    const certificates = paths.filter((path) => path.startsWith("/witness/")).map((path) => `${path}/certificate`)
    for (const path of [...paths, ...certificates, ...beside]) {
      await page.goto(`${url}${path}`)
      // The manuals repeat one form for every operation.
      await page
        .locator("details")
        .evaluateAll((all) => all.slice(0, 40).forEach((one) => one.setAttribute("open", "")))
      await judge(page, path)
    }
  })
})

browser("the signal room", (it) => {
  it("is accessible and fits the window in every state and look", async ({ run, url, visit }) => {
    const options = { bypassCSP: true }
    const { page: start } = await visit("/signals/", options)
    await makeRoom(start, "Night shift")
    await start.getByRole("button", { name: "Send" }).click()
    await judge(start, "a refused signal")

    const guest = await run(newRoom(url))
    const invite = inviteOf(guest)
    for (const message of [
      { sender: "Wren", text: "Tests are running.", mode: "calm" },
      { sender: "Mara", senderKind: "person", text: "Coffee first, then the migration.", mode: "ping" },
      { sender: "Wren", senderKind: "agent", text: "W".repeat(160), mode: "spark" },
      { sender: "ليلى", text: "مرحبا بالجميع، البناء أخضر", mode: "celebrate" },
    ])
      await run(send(guest, message))
    const { page } = await visit(invite, options)
    await page.getByText("Tests are running.").waitFor()
    await run(send(guest, { sender: "Wren", senderKind: "agent", text: "The build is green.", mode: "celebrate" }))
    await page.getByText("Celebrate, three rising pulses").waitFor()
    await judge(page, "news")
    await page.getByRole("button", { name: "Delete this room" }).click()
    await judge(page, "a question")
    await page.getByRole("button", { name: "Keep the room" }).click()
    await page.context().setOffline(true)
    await page.locator("#state", { hasText: "No connection to the room." }).waitFor()
    await judge(page, "offline")
    await page.context().setOffline(false)
    await page.goto(`${url}${invite.slice(0, -1)}`)
    await page.getByRole("heading", { name: "This invite is incomplete" }).waitFor()
    await judge(page, "an incomplete invite")
  })
})
