/** A room is asked while it is seen, and waits for whatever is away; what is sent is sent once. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { browser, steps, visit } from "../lab/browser/Browser.ts"
import { newAddress, newRoom, poll, send } from "../lab/server/Rooms.ts"
import { TestServer } from "../lab/Fixture.ts"
import { asked, hide, inviteOf, makeRoom, write } from "../lab/browser/RoomPage.ts"

browser("the signal room", (it) => {
  it.effect("asks every three seconds while it is seen, rests while hidden, and goes on where it stopped", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const guest = yield* newRoom(url)
      yield* send(guest)
      const { page } = yield* visit("/v2/")
      yield* steps(async () => {
        await page.clock.install()
        await page.goto(`${url}${inviteOf(guest)}`)
        await page.getByRole("log").getByText("The build is green.").waitFor()
        // Time stands still but for what the test lets pass.
        await page.clock.pauseAt(Date.now() + 60_000)
        const settled = async (seconds: number) => {
          const answer = page.waitForResponse(/\/api\/rooms\//u)
          await page.clock.runFor(seconds * 1000)
          await (await answer).finished()
          await page.evaluate(() => fetch("/style/icon.svg").then((response) => response.text()))
        }
        await settled(3)
        for (let round = 0; round < 3; round++) {
          assert.deepStrictEqual(await asked(page, () => page.clock.runFor(2999)), [])
          const seen = await asked(page, () => settled(0.001))
          assert.strictEqual(seen.length, 1)
          assert.strictEqual(new URL(seen[0]?.url() ?? "").search, "?after=1")
          assert.strictEqual(seen[0]?.url().includes(guest.token), false)
          assert.strictEqual(await seen[0]?.headerValue("referer"), null)
        }
        await hide(page, true)
        const hidden = await asked(page, () => page.clock.runFor(60_000))
        assert.deepStrictEqual(hidden, [])
        await page.getByText("Resting while this page is hidden.").waitFor()
      })
      yield* send(guest, { text: "While you were away." })
      yield* steps(async () => {
        const back = await asked(page, async () => {
          await hide(page, false)
          await page.getByRole("log").getByText("While you were away.").waitFor()
        })
        assert.deepStrictEqual(
          back.map((request) => new URL(request.url()).search),
          ["?after=1"],
        )
      })
    }).pipe(Effect.scoped),
  )

  it.effect("sends once though the answer is lost, and says so", () =>
    Effect.gen(function* () {
      const host = yield* visit("/signals/")
      yield* steps(async () => {
        const { page } = host
        await makeRoom(page, "Lost answers")
        // The request arrives; its answer does not.
        await page.route(
          "**/messages",
          async (route) => {
            await route.fetch()
            await route.abort()
          },
          { times: 1 },
        )
        await write(page, "Wren", "Only once.")
        await page.getByText("press Send again, it will not arrive twice").waitFor()
        assert.strictEqual(await page.locator("#text").inputValue(), "Only once.")
        const [again] = await asked(page, async () => {
          await page.getByRole("button", { name: "Send" }).click()
          await page.getByText("The room has it.").waitFor()
        })
        assert.strictEqual((await again?.response())?.status(), 200)
        await page.getByRole("log").getByText("Only once.").waitFor()
        assert.strictEqual(await page.getByRole("listitem").count(), 1)
        await write(page, "Wren", "Only once.")
        await page.getByRole("listitem").nth(1).waitFor()
      })
    }).pipe(Effect.scoped),
  )

  it.effect("says when a limit is reached and how long it lasts", () =>
    Effect.gen(function* () {
      const { address, page, url } = yield* visit("/signals/")
      yield* steps(() => makeRoom(page, "Hurry"))
      const [, id = "", token = ""] = /#room=(.+)&token=(.+)$/u.exec(page.url()) ?? []
      // All but the last from the same address without the page: a minute is short for twenty by hand.
      for (let count = 1; count < 20; count++) {
        const { status } = yield* send({ url, id, token }, { text: `${count}` }, address)
        assert.strictEqual(status, 201)
      }
      yield* steps(async () => {
        await write(page, "Wren", "20")
        await page.getByRole("log").getByText("20", { exact: true }).waitFor()
        await write(page, "Wren", "21")
        await page
          .getByText(
            /Not sent\. The limit of 20 sends per minute from one address is reached\. You can send again in \d+ seconds\./u,
          )
          .waitFor()
        assert.strictEqual(await page.locator("#text").inputValue(), "21")
      })
    }).pipe(Effect.scoped),
  )

  it.effect("waits in its own words for a server that is away or wants fewer requests", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const guest = yield* newRoom(url)
      const joined = yield* visit("/v2/")
      // What is answered here is not the room's, and no page of ours is judged by it.
      const page = yield* Effect.promise(() => joined.page.context().newPage())
      const away = { error: { code: "UNAVAILABLE", message: "The server is starting." } }
      yield* steps(async () => {
        await page.goto(`${url}${inviteOf(guest)}`)
        await page.getByText("No signals yet.").waitFor()
        for (const answer of [{ json: away }, { contentType: "text/html", body: "<h1>Bad gateway</h1>" }]) {
          await page.route("**/api/rooms/**", (route) => route.fulfill({ status: 503, ...answer }), { times: 1 })
          await page.locator("#state", { hasText: "The room cannot answer now. Trying again in 3 seconds." }).waitFor()
          await page.locator("#state", { hasText: "Listening" }).waitFor()
        }
        assert.include(page.url(), guest.token)
      })
      const busy = newAddress()
      yield* Effect.forEach(Array.from({ length: 120 }), () => poll(guest, "", busy), { concurrency: 8 })
      const limited = yield* visit(inviteOf(guest), {}, busy)
      yield* steps(async () => {
        await limited.page
          .getByText(/^Too many requests from your network\. Trying again in \d+ seconds\.$/u)
          .first()
          .waitFor()
        await limited.page.getByRole("heading", { name: "Opening the room" }).waitFor()
      })
    }).pipe(Effect.scoped),
  )
})
