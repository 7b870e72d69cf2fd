/** Every page and every state of the room fits a phone and a desk, by day and by night, and suits a screen reader. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { browser, type Appearance, appearancesOf, assertAppearance, steps, visit } from "../lab/browser/Browser.ts"
import { from, newAddress, newRoom, send } from "../lab/server/Rooms.ts"
import { patience } from "../lab/Patience.ts"
import { ask, TestServer } from "../lab/Fixture.ts"

const looks: ReadonlyArray<Appearance> = [
  ...appearancesOf(320).map((look) => ({ ...look, height: 700 })),
  ...appearancesOf(1440),
  { width: 800, colorScheme: "light", forcedColors: "active" },
]

const judge = (page: Page, state: string) => assertAppearance(page, looks, state, state)

browser("looks", (it) => {
  it.effect(
    "of every state, 320 and 1440 pixels wide, light and dark, and in forced colours",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const options = { bypassCSP: true }
        const guest = yield* newRoom(url)
        const invite = `/signals/#room=${guest.id}&token=${guest.token}`

        const home = yield* visit("/v2/", options)
        yield* steps(async () => {
          for (const { width } of looks) {
            await home.page.setViewportSize({ width, height: 900 })
            for (const image of await home.page.locator("img").all()) await image.scrollIntoViewIfNeeded()
            await home.page.waitForFunction(() => [...document.images].every((image) => image.naturalWidth > 0))
          }
          await judge(home.page, "v2")
        })

        const start = yield* visit("/signals/", options)
        yield* steps(async () => {
          await start.page.getByRole("heading", { level: 1 }).waitFor()
          await judge(start.page, "signals-start")
          await start.page.getByLabel("Name of the room").fill("Night shift")
          await start.page.getByRole("button", { name: "Make the room" }).click()
          await start.page.getByRole("heading", { name: "Night shift" }).waitFor()
          await judge(start.page, "signals-made")
          await start.page.getByRole("button", { name: "Send" }).click()
          await judge(start.page, "signals-refused")
        })

        yield* send(guest, { sender: "Wren", text: "Tests are running.", mode: "calm" })
        yield* send(guest, {
          sender: "Mara",
          senderKind: "person",
          text: "Coffee first, then the migration.",
          mode: "ping",
        })
        yield* send(guest, { sender: "Wren", senderKind: "agent", text: "W".repeat(160), mode: "spark" })
        yield* send(guest, { sender: "ليلى", text: "مرحبا بالجميع، البناء أخضر", mode: "celebrate" })
        const room = yield* visit(invite, options)
        yield* steps(async () => {
          await room.page.getByText("Tests are running.").waitFor()
          await judge(room.page, "signals-history")
        })
        yield* send(guest, { sender: "Wren", senderKind: "agent", text: "The build is green.", mode: "celebrate" })
        yield* steps(async () => {
          await room.page.getByText("Celebrate, three rising pulses").waitFor()
          await judge(room.page, "signals-news")
          await room.page.getByRole("button", { name: "Delete this room" }).click()
          await judge(room.page, "signals-confirm")
          await room.page.getByRole("button", { name: "Keep the room" }).click()
          await room.page.context().setOffline(true)
          await room.page.locator("#state", { hasText: "No connection to the room." }).waitFor()
          await judge(room.page, "signals-offline")
          await room.page.context().setOffline(false)
          await room.page.locator("#state", { hasText: "Listening" }).waitFor()
        })

        yield* sql`UPDATE rooms SET expires_at = now() - interval '1 second', created_at = now() - interval '8 days' WHERE id = ${guest.id}::uuid`
        const endings = [
          ["expired", invite, "This room has ended"],
          ["unauthorized", invite.replace(guest.token, "A".repeat(43)), "This invite does not open the room"],
          ["unknown", invite.replace(guest.id, crypto.randomUUID()), "There is no such room"],
          ["broken", invite.slice(0, -1), "This invite is incomplete"],
        ] as const
        const show = steps(async () => {
          for (const [state, path, title] of endings) {
            await room.page.goto(`${url}${path}`)
            await room.page.getByRole("heading", { name: title }).waitFor()
            await judge(room.page, `signals-${state}`)
          }
        })
        // Once a minute ended rooms are deleted, and the page would rightly say so; a locked one is passed over.
        const held = sql`SELECT 1 FROM rooms WHERE id = ${guest.id}::uuid FOR KEY SHARE`
        yield* sql.withTransaction(Effect.andThen(held, show))

        const busy = newAddress()
        yield* Effect.repeat(ask(`${url}/api/rooms`, { method: "POST", headers: from(busy) }), { times: 4 })
        const limited = yield* visit("/signals/", options, busy)
        yield* steps(async () => {
          await limited.page.getByRole("button", { name: "Make the room" }).click()
          await limited.page.getByText(/No new room yet\..*Try again in (?:59 minutes|60 minutes|1 hour)\./u).waitFor()
          await judge(limited.page, "signals-limited")
        })
      }).pipe(Effect.scoped),
    patience(240),
  )
})
