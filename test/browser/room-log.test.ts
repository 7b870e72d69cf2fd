/** A room's messages are shown as text and in place; each is sent once, and a hidden or silent room waits. */
import { assert } from "@effect/vitest"
import { SqlClient } from "effect/sql"
import { browser } from "../lab/browser/Browser.ts"
import { newRoom, sendSignal } from "../lab/server/Rooms.ts"
import { shiftsOf, watchShifts } from "../lab/browser/GuidePage.ts"
import { queriesOf, hide, inviteOf, makeRoom, sendSignals, write } from "../lab/browser/RoomPage.ts"

browser("the signal room", (it) => {
  it("shows names and words as text, whatever they contain", async ({ visit, url, run }) => {
    const evil = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>"'&lt;`
    const guest = await run(newRoom(url))
    await run(sendSignal(guest, { sender: `<b onclick=alert(1)>Wren</b>`, text: evil }))
    await run(sendSignal(guest, { sender: "javascript:alert(1)", text: "https://example.org/ <svg/onload=alert(1)>" }))
    const joined = await visit(inviteOf(guest))
    const host = await visit("/signals/")
    await joined.page.getByText(evil).waitFor()
    await joined.page.getByText("<b onclick=alert(1)>Wren</b>").waitFor()
    await makeRoom(host.page, `<img src=x onerror=alert(1)>`)
    await write(host.page, `"><script>1</script>`, evil)
    await host.page.getByRole("log").getByText(evil).waitFor()
    await host.page.locator("#lamp-from", { hasText: `"><script>1</script>` }).waitFor()
    for (const { page } of [joined, host]) {
      assert.strictEqual(await page.locator("main img, main a:visible, main script, main b").count(), 0)
      assert.strictEqual(await page.evaluate(() => "hurt" in window), false)
    }
  })

  it("shifts nothing while signals arrive, and keeps the place of older ones in view", async ({ visit, url, run }) => {
    const sql = await run(SqlClient.SqlClient)
    const guest = await run(newRoom(url))
    for (const from of [0, 25]) {
      await run(sendSignals(guest, 25, from))
      await run(sql`DELETE FROM rate_limits WHERE key = ${`room-messages:${guest.id}`}`)
    }
    const { page } = await visit("/v2/", { viewport: { width: 360, height: 740 } })
    await watchShifts(page)
    await page.goto(`${url}${inviteOf(guest)}`)
    const older = page.getByText("Signal 20", { exact: true })
    await page.getByText("Signal 50", { exact: true }).waitFor()
    await run(sendSignal(guest, { text: "Seen at once.", mode: "celebrate", sender: "W".repeat(40) }))
    await page.getByText("Seen at once.").waitFor()
    await older.evaluate((line) => line.scrollIntoView({ block: "center" }))
    const top = () => older.evaluate((line) => line.getBoundingClientRect().top)
    const before = await top()
    await run(sendSignal(guest, { text: "Later.", mode: "ping" }))
    await run(sendSignal(guest, { text: "Later still.", mode: "spark" }))
    const later = page.getByRole("button", { name: "2 new signals" })
    await later.waitFor()
    await page.waitForFunction(() => document.querySelectorAll("#log-list > li").length === 50)
    // A browser scrolls by whole pixels of its screen.
    assert.closeTo(await top(), before, 1)
    await later.click()
    await page.getByText("Later still.").click({ trial: true })
    assert.isTrue(await later.isHidden())
    assert.deepStrictEqual(await shiftsOf(page), [])
  })

  it("polls every three seconds in view, rests hidden, and continues where it was", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    await run(sendSignal(guest))
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
    assert.deepStrictEqual(await queriesOf(page, () => page.clock.runFor(2999)), [])
    assert.deepStrictEqual(await queriesOf(page, () => settled(0.001)), ["?after=1"])
    await hide(page, true)
    assert.deepStrictEqual(await queriesOf(page, () => page.clock.runFor(60_000)), [])
    await run(sendSignal(guest, { text: "While you were away." }))
    const back = await queriesOf(page, async () => {
      await hide(page, false)
      await page.getByRole("log").getByText("While you were away.").waitFor()
    })
    assert.deepStrictEqual(back, ["?after=1"])
  })

  it("sends once even when the answer is lost, and says so", async ({ visit }) => {
    const { page } = await visit("/signals/")
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
    const again = page.waitForResponse("**/messages")
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByText("Sent.").waitFor()
    assert.strictEqual((await again).status(), 200)
    await page.getByRole("log").getByText("Only once.").waitFor()
    assert.strictEqual(await page.getByRole("listitem").count(), 1)
    assert.include(await page.getByRole("listitem").innerText(), "person, you")
    await write(page, "Wren", "Only once.")
    await page.getByRole("listitem").nth(1).waitFor()
  })
})
