/** A room is asked while it is seen, and waits for whatever is away; each message is sent once. */
import { Effect } from "effect"
import { browser } from "../lab/browser/Browser.ts"
import { newAddress, newRoom, poll, send } from "../lab/server/Rooms.ts"
import { asked, hide, inviteOf, makeRoom, write } from "../lab/browser/RoomPage.ts"
import { assert, assertEach } from "../lab/Suites.ts"

browser("the signal room", (it) => {
  it("polls every three seconds in view, rests hidden, and continues where it was", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    await run(send(guest))
    const { page } = await visit("/v2/")
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
    await run(send(guest, { text: "While you were away." }))
    const back = await asked(page, async () => {
      await hide(page, false)
      await page.getByRole("log").getByText("While you were away.").waitFor()
    })
    assertEach(back, (request) => new URL(request.url()).search, ["?after=1"])
  })

  it("sends once even when the answer is lost, and says so", async ({ visit }) => {
    const host = await visit("/signals/")
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

  it("reports a reached limit and how long it lasts", async ({ visit, run }) => {
    const { address, page, url } = await visit("/signals/")
    await makeRoom(page, "Hurry")
    const [, id = "", token = ""] = /#room=(.+)&token=(.+)$/u.exec(page.url()) ?? []
    // All but the last from the same address without the page: a minute is short for twenty by hand.
    for (let count = 1; count < 20; count++) {
      const { status } = await run(send({ url, id, token }, { text: `${count}` }, address))
      assert.strictEqual(status, 201)
    }
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

  it("says that it waits for a server that is unreachable or limits requests", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    const joined = await visit("/v2/")
    // These answers are not the room's, and no page of ours is checked by them.
    const page = await joined.page.context().newPage()
    const away = { error: { code: "UNAVAILABLE", message: "The server is starting." } }
    await page.goto(`${url}${inviteOf(guest)}`)
    await page.getByText("No signals yet.").waitFor()
    for (const answer of [{ json: away }, { contentType: "text/html", body: "<h1>Bad gateway</h1>" }]) {
      await page.route("**/api/rooms/**", (route) => route.fulfill({ status: 503, ...answer }), { times: 1 })
      await page.locator("#state", { hasText: "The room cannot answer now. Trying again in 3 seconds." }).waitFor()
      await page.locator("#state", { hasText: "Listening" }).waitFor()
    }
    assert.include(page.url(), guest.token)
    const busy = newAddress()
    await run(Effect.forEach(Array.from({ length: 120 }), () => poll(guest, "", busy), { concurrency: 8 }))
    const limited = await visit(inviteOf(guest), {}, busy)
    await limited.page
      .getByText(/^Too many requests from your network\. Trying again in \d+ seconds\.$/u)
      .first()
      .waitFor()
    await limited.page.getByRole("heading", { name: "Opening the room" }).waitFor()
  })
})
