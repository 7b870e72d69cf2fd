/** Every page and every state of the room fits a phone and a desk, by day and by night, and suits a screen reader. */
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, isAccessible } from "../lab/browser/Browser.ts"
import { guide } from "../lab/browser/Guide.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"
import { inviteOf, makeRoom } from "../lab/browser/RoomPage.ts"
import { endRoom, from, newAddress, newRoom, send } from "../lab/server/Rooms.ts"
import { filesIn, textOf } from "../lab/Sources.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, assertEach, describe, it } from "../lab/Suites.ts"

/** A phone and a desk, by day and by night. */
const looks = [
  { width: 320, height: 700, colorScheme: "light" },
  { width: 320, height: 700, colorScheme: "dark" },
  { width: 1440, height: 900, colorScheme: "light" },
  { width: 1440, height: 900, colorScheme: "dark" },
  { width: 720, height: 900, colorScheme: "light", forcedColors: "active" },
] as const

/**
 * In each look, one after another: nothing is wider than the window, and nothing is wrong for a screen reader. Only
 * style sheets know of looks, so that a page need not be opened anew for each.
 */
const judge = async (page: Page, state: string) => {
  const widths = new Set<number>()
  for (const { height, width, ...media } of looks) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ forcedColors: null, ...media })
    const look = `${state}, ${JSON.stringify(media)}, ${width} pixels wide`
    // Colours alone differ between the looks of one width: the other rules have nothing new to read.
    await isAccessible(page, look, widths.has(width) ? ["color-contrast", "link-in-text-block"] : undefined)
    widths.add(width)
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, look)
  }
}

describe("style sheets", () => {
  it("change colours alone by night, so that most rules of axe read a page once in each width", () => {
    const blocks = filesIn(["src/web"], /\.css$/u).flatMap((file) => [
      ...textOf(file).matchAll(/@media \(prefers-color-scheme: dark\) \{\n([\s\S]*?)^\}/gmu),
    ])
    assert.isAbove(blocks.length, 5)
    const set = blocks.flatMap(([, block = ""]) => [...block.matchAll(/^ +(--[\w-]+|[\w-]+): ([^;]*);/gmu)])
    const others = set.filter(([, name = "", value = ""]) =>
      name.startsWith("--") ? !/^(?:#|rgb|hsl|var|color-mix)/u.test(value) : !/^(?:background|color)/u.test(name),
    )
    assertEach(others, ([line]) => line.trim(), [])
  })
})

guide("a page", (it) => {
  it("is accessible and fits the window in every look, with every fold open", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/", { bypassCSP: true, reducedMotion: "reduce" })
    const paths = await run(guidePaths)
    const certificates = paths.filter((path) => path.startsWith("/witness/")).map((path) => `${path}/certificate`)
    for (const path of [...paths, ...certificates, ...beside]) {
      await page.goto(`${url}${path}`)
      await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")))
      await judge(page, path)
    }
  })
})

browser("the signal room", (it) => {
  it("is accessible and fits the window in every state and look", async ({ run, url, visit }) => {
    const options = { bypassCSP: true }
    const { page: start } = await visit("/signals/", options)
    await makeRoom(start, "Night shift")
    await judge(start, "a made room")
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
    await judge(page, "history")
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
    await page.locator("#state", { hasText: "Listening" }).waitFor()

    const show = Effect.promise(async () => {
      for (const [path, title] of [
        [invite, "This room has ended"],
        [invite.replace(guest.token, "A".repeat(43)), "This invite does not open the room"],
        [invite.replace(guest.id, crypto.randomUUID()), "There is no such room"],
        [invite.slice(0, -1), "This invite is incomplete"],
      ] as const) {
        await page.goto(`${url}${path}`)
        await page.getByRole("heading", { name: title }).waitFor()
        await judge(page, title)
      }
    })
    await run(Effect.scoped(Effect.andThen(endRoom(guest), show)))

    const busy = newAddress()
    await run(Effect.repeat(ask(`${url}/api/rooms`, { method: "POST", headers: from(busy) }), { times: 4 }))
    const { page: limited } = await visit("/signals/", options, busy)
    await limited.getByRole("button", { name: "Make the room" }).click()
    await limited.getByText(/No new room yet\..*Try again in (?:59 minutes|60 minutes|1 hour)\./u).waitFor()
    await judge(limited, "a limit")
  })
})
