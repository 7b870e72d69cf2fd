/** Light and sound come only for visitors that want them, and keys suffice. */
import { assert } from "@effect/vitest"
import { browser } from "../lab/browser/Browser.ts"
import { newRoom, sendSignal } from "../lab/server/Rooms.ts"
import { inviteOf, played, sensations } from "../lab/browser/RoomPage.ts"

browser("the signal room", (it) => {
  it("plays no history, no sound before a click, and no pulse against preference", async ({ visit, url, run }) => {
    const guest = await run(newRoom(url))
    await run(sendSignal(guest, { text: "Long ago." }))
    const { page } = await visit("/v2/")
    const calm = await visit("/v2/", { reducedMotion: "reduce" })
    for (const one of [page, calm.page]) {
      await sensations(one)
      await one.goto(`${url}${inviteOf(guest)}`)
      await one.getByText("Long ago.").waitFor()
      assert.deepStrictEqual(await played(one), [])
      await one.getByText("The lamp rests").waitFor()
    }
    await run(sendSignal(guest, { text: "First news.", mode: "ping" }))
    for (const one of [page, calm.page]) await one.getByText("Ping, two even pulses").waitFor()
    assert.deepStrictEqual(await played(page), ["light"])
    assert.deepStrictEqual(await played(calm.page), [])
    assert.strictEqual(await calm.page.getByLabel("Keep the light steady").isDisabled(), true)
    await page.getByLabel("Play sound").check()
    await run(sendSignal(guest, { text: "Second news.", mode: "spark" }))
    await page.getByText("Spark, a flash and a glimmer").waitFor()
    assert.deepStrictEqual(await played(page), ["light", "audio", "light", "tone", "tone"])
    await page.getByLabel("Play sound").uncheck()
    await page.getByLabel("Keep the light steady").check()
    await run(sendSignal(guest, { text: "Third news.", mode: "calm" }))
    await page.getByText("Calm, one slow swell").waitFor()
    assert.strictEqual((await played(page)).length, 5)
    const kept = await page.evaluate(() => [...Object.entries(localStorage), ...Object.entries(sessionStorage)])
    assert.deepStrictEqual(kept, [["signals", '{"sound":false,"steady":true}']])
    await page.getByLabel("Play sound").check()
    await page.reload()
    await page.getByText("Third news.").waitFor()
    assert.strictEqual(await page.getByLabel("Play sound").isChecked(), true)
    assert.deepStrictEqual(await played(page), [])
    await page.getByRole("heading", { level: 1 }).click()
    assert.deepStrictEqual(await played(page), ["audio"])
  })

  it("plays a pattern on its drawing that is pointed at or focused, and not against preference", async ({ visit }) => {
    const { page, url } = await visit("/v2/")
    const calm = await visit("/v2/", { reducedMotion: "reduce" })
    for (const one of [page, calm.page]) {
      await sensations(one)
      await one.goto(`${url}/signals/`)
      await one.getByRole("button", { name: "Spark" }).hover()
      await one.getByRole("button", { name: "Ping" }).focus()
    }
    assert.deepStrictEqual(await played(page), ["light", "light"])
    assert.deepStrictEqual(await played(calm.page), [])
  })

  it("keeps its text without script", async ({ visit }) => {
    const { page } = await visit("/signals/", { javaScriptEnabled: false })
    await page.getByRole("heading", { name: "A room for short signals" }).waitFor()
    await page.getByText("two even pulses").first().waitFor()
    assert.isFalse(await page.getByRole("button", { name: "Make the room" }).isVisible())
  })

  it("works by keyboard alone: create, send, delete", async ({ visit }) => {
    const { page } = await visit("/signals/")
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement
        return element?.id || element?.getAttribute("value") || element?.classList.item(0)
      })
    const tabTo = async (id: string) => {
      for (let presses = 0; presses < 40; presses++) {
        if ((await focused()) === id) return
        await page.keyboard.press("Tab")
      }
      assert.fail(`Tab does not reach ${id}`)
    }
    await page.keyboard.press("Tab")
    assert.strictEqual(await focused(), "skip")
    await page.keyboard.press("Enter")
    assert.strictEqual(await focused(), "main")
    await tabTo("create-name")
    await page.keyboard.type("Keys only")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Keys only" }).waitFor()
    assert.strictEqual(await focused(), "room-name")
    // The composer asks for the name first.
    await tabTo("sender")
    await page.keyboard.press("Enter")
    await page.getByText("Write your name first").waitFor()
    assert.strictEqual(await focused(), "sender")
    await page.keyboard.type("Wren")
    await tabTo("calm")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await tabTo("text")
    await page.keyboard.type("No mouse was moved.")
    await page.keyboard.press("Enter")
    await page.getByText("Ping, two even pulses").waitFor()
    assert.strictEqual(await focused(), "text")
    await tabTo("delete")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog", { name: "Delete this room for everyone?" }).waitFor()
    await page.keyboard.press("Escape")
    assert.strictEqual(await focused(), "delete")
    await page.getByRole("heading", { name: "Keys only" }).waitFor()
    await page.keyboard.press("Enter")
    // The harmless answer has the focus.
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Keys only" }).waitFor()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "The room is deleted" }).waitFor()
    assert.strictEqual(await focused(), "ended-title")
  })
})
