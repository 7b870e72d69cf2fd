/** A room's messages are shown as text, in order and in place, with the hours of one clock. */
import { assert } from "@effect/vitest"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { browser, isAccessible } from "../lab/browser/Browser.ts"
import { newRoom, send } from "../lab/server/Rooms.ts"
import { sendSignals, inviteOf, makeRoom, windows, write } from "../lab/browser/RoomPage.ts"

browser("the signal room", (it) => {
  it("shows names and words as text, whatever they contain", async ({ visit, url, run }) => {
    const evil = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>"'&lt;`
    const guest = await run(newRoom(url))
    await run(send(guest, { sender: `<b onclick=alert(1)>Wren</b>`, text: evil }))
    await run(send(guest, { sender: "javascript:alert(1)", text: "https://example.org/ <svg/onload=alert(1)>" }))
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
    assert.deepStrictEqual([...joined.complaints, ...host.complaints], [])
  })

  it("keeps the composer in view on a desktop, on a phone and above its keyboard", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    await run(sendSignals(guest, 20))
    const { page } = await visit("/v2/", { bypassCSP: true })
    const bottom = (selector: string) => page.locator(selector).evaluate((one) => one.getBoundingClientRect().bottom)
    for (const [width, height] of windows) {
      const where = `${width} × ${height}`
      await page.setViewportSize({ width, height })
      await page.goto("about:blank")
      await page.goto(`${url}${inviteOf(guest)}`)
      await page.getByRole("log").getByText("Signal 20").waitFor()
      const last = page.getByRole("listitem").last()
      for (const scroll of [0, 60]) {
        await page.mouse.wheel(0, scroll)
        await page.getByRole("button", { name: "Send" }).click({ trial: true })
        assert.isAtMost(await bottom("#composer"), height, where)
      }
      await page.evaluate(() => window.scrollBy(0, -60))
      const composer = await page.locator("#composer").boundingBox()
      const read = await last.boundingBox()
      assert.isAtMost((read?.y ?? 0) + (read?.height ?? 0), (composer?.y ?? 0) + 1, where)
      await isAccessible(page, where)
    }
    // A keyboard lies over the lower 300 pixels of a phone: the window stays as it is, what is seen of it shrinks.
    await page.setViewportSize({ width: 360, height: 740 })
    await page.reload()
    await page.getByRole("log").getByText("Signal 20").waitFor()
    await page.locator("#text").click()
    await page.evaluate(() => {
      const seen = window.visualViewport
      if (seen === null) throw new Error("No visual viewport")
      Object.defineProperty(seen, "height", { value: 440 })
      seen.dispatchEvent(new Event("resize"))
    })
    await page.waitForFunction(
      () => (document.querySelector("#composer")?.getBoundingClientRect().bottom ?? 999) <= 441,
    )
    assert.isAtMost(await bottom("#log-list > li:last-child"), 440 - 200)
    assert.isAtLeast(await bottom("#composer"), 400)
    // Where the window itself shrinks, too.
    await page.reload()
    await page.getByRole("log").getByText("Signal 20").waitFor()
    await page.locator("#text").click()
    await page.setViewportSize({ width: 360, height: 440 })
    await page.waitForFunction(() => (document.querySelector("#text")?.getBoundingClientRect().bottom ?? 999) <= 440)
    assert.isAtMost(await bottom("#composer"), 440)
  })

  it("shifts nothing while signals arrive, and keeps the place of older ones in view", async ({ visit, url, run }) => {
    const sql = await run(SqlClient.SqlClient)
    const guest = await run(newRoom(url))
    await run(sendSignals(guest, 25))
    await run(sql`UPDATE rooms SET sent = '{}' WHERE id = ${guest.id}::uuid`)
    await run(sendSignals(guest, 25, 25))
    await run(sql`UPDATE rooms SET sent = '{}' WHERE id = ${guest.id}::uuid`)
    const { page } = await visit("/v2/")
    const phone = await visit("/v2/", { viewport: { width: 360, height: 740 } })
    const pages = [page, phone.page]
    const top = (one: Page, text: string) =>
      one.getByText(text, { exact: true }).evaluate((line) => line.getBoundingClientRect().top)
    const places: Array<number> = []
    for (const one of pages) {
      await one.addInitScript(() => {
        Reflect.set(window, "shifted", [])
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) Reflect.get(window, "shifted").push(Reflect.get(entry, "value"))
        }).observe({ type: "layout-shift", buffered: true })
      })
      await one.goto(`${url}${inviteOf(guest)}`)
      await one.getByText("Signal 50", { exact: true }).waitFor()
    }
    await run(send(guest, { text: "Seen at once.", mode: "celebrate", sender: "W".repeat(40) }))
    for (const one of pages) {
      await one.getByText("Seen at once.").waitFor()
      await one.waitForFunction(() => document.querySelectorAll("#log-list > li").length === 50)
      const log = one.getByRole("log")
      assert.isAtMost(await log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight), 1)
      assert.isTrue(await one.locator("#later").isHidden())
      await one.getByText("Signal 20", { exact: true }).evaluate((line) => line.scrollIntoView({ block: "center" }))
      places.push(await top(one, "Signal 20"))
    }
    await run(send(guest, { text: "Later.", mode: "ping" }))
    await run(send(guest, { text: "Later still.", mode: "spark" }))
    for (const [index, one] of pages.entries()) {
      const later = one.getByRole("button", { name: "2 new signals" })
      await later.waitFor()
      // A browser scrolls by whole pixels of its screen.
      assert.closeTo(await top(one, "Signal 20"), places[index] ?? 0, 1)
      await one.waitForFunction(() => document.querySelectorAll("#log-list > li").length === 50)
      assert.closeTo(await top(one, "Signal 20"), places[index] ?? 0, 1)
      await later.click()
      await one.getByText("Later still.").click({ trial: true })
      assert.isTrue(await later.isHidden())
      await one.context().setOffline(true)
      await one.locator("#state", { hasText: "No connection to the room." }).waitFor()
      await one.getByRole("button", { name: "Try now" }).waitFor()
      await one.context().setOffline(false)
      await one.locator("#state", { hasText: "Listening" }).waitFor()
      assert.deepStrictEqual(await one.evaluate(() => Reflect.get(window, "shifted")), [])
    }
  })

  it("writes days and hours by one clock, the visitor's beside the server's", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    await run(send(guest))
    const kiritimati = await visit(inviteOf(guest), { timezoneId: "Pacific/Kiritimati" })
    const utc = await visit(inviteOf(guest), { timezoneId: "UTC" })
    const written = /^\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC$/u
    await utc.page.getByRole("log").getByText("The build is green.").waitFor()
    const ends = await utc.page.locator("#room-ends").innerText()
    assert.match(ends, written)
    await kiritimati.page.getByRole("log").getByText("The build is green.").waitFor()
    const [there = "", here = ""] = (await kiritimati.page.locator("#room-ends").innerText()).split(" (")
    assert.strictEqual(there, ends)
    assert.match(here, /^(?:\d{1,2} [A-Z][a-z]+ \d{4}, )?\d\d:\d\d your time\)$/u)
    const iso = (await kiritimati.page.locator("li time").getAttribute("datetime")) ?? ""
    const ahead = new Date(Date.parse(iso) + 14 * 3_600_000).toISOString()
    assert.strictEqual(
      await kiritimati.page.locator("li .signal__meta").innerText(),
      `Wren person Calm ${ahead.slice(11, 16)} ${iso.slice(11, 16)} UTC`,
    )
    assert.include(await kiritimati.page.locator("li .signal__day").innerText(), String(Number(ahead.slice(8, 10))))
  })
})
