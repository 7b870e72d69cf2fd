/** The acts of a wallet and the box of sealed words of a browser. */
import type { Page } from "playwright-core"
import { assert } from "@effect/vitest"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, settled } from "../lab/browser/Guide.ts"
import { cutOff, fundAndLay, statesAt, watch } from "../lab/browser/PrayerPage.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { file, held, layStone, savedBy, sentBy, setStone } from "../lab/browser/WordsPage.ts"

/** Sets two stones, the first with a new wallet. */
const setTwo = async (page: Page, url: string) => {
  for (const words of ["The first of two.", "<b>The second</b> of two."]) {
    await page.goto(`${url}/v2/stone`)
    if (words.startsWith("The first")) await setStone(page, words)
    else {
      await page.getByText("Play wallet with").first().waitFor()
      await layStone(page, words)
    }
    await settled(page).waitFor()
  }
}

/** Removes one of two entries from the box, after the visitor once thinks better of it. */
const removeOne = async (page: Page) => {
  await page.getByText("Show, save or remove").first().click()
  const remove = page.getByRole("button", { name: "Remove from this browser" })
  const question = page.getByRole("dialog", { name: "Remove these words from this browser?" })
  for (const closed of [
    () => question.getByRole("button", { name: "Keep them" }).click(),
    () => page.keyboard.press("Escape"),
  ]) {
    await remove.click()
    await question.waitFor()
    await isAccessible(page, "the question before words are removed")
    await closed()
    await question.waitFor({ state: "hidden" })
  }
  assert.strictEqual((await held(page)).length, 2)
  await remove.click()
  await question.getByRole("button", { name: "Remove them" }).click()
  await page.locator(".box > li").nth(1).waitFor({ state: "detached" })
  assert.strictEqual((await held(page)).length, 1)
}

guide("the page of my acts", (it) => {
  it("leads to the acts of a wallet, saves a box of sealed words to one file and restores it", async ({ visit }) => {
    const { page, url } = await visit("/v2/mine", { bypassCSP: true })
    const other = await visit("/v2/mine")
    const requests = [watch(page), watch(other.page)]
    await page.getByText("No sealed words are in this browser.").waitFor()
    await setTwo(page, url)
    await page.goto(`${url}/v2/acts?q=1`)
    await page.getByRole("link", { name: "Next: stone 2" }).waitFor()
    await page.getByRole("link", { name: "My words" }).first().click()
    await page.locator(".box > li").nth(1).waitFor()
    const box = await page.locator(".box").innerText()
    assert.match(box, /<b>The second<\/b> of two\.[^]*Witness stone 2[^]*The first of two\.[^]*Witness stone 1/u)
    assert.match(box, /Sealed here: only in this browser\.[^]*Reveal/u)
    await page.getByText("Show, save or remove").first().click()
    await page.locator(".keepsake").waitFor()
    await page.getByRole("button", { name: "Remove from this browser" }).click()
    await page.getByText("Not removed. No copy of them is known.").waitFor()
    await isAccessible(page, "my acts")
    // The wallet that paid is offered.
    await page.getByText("Paid from this browser:").getByRole("link").click()
    await page.locator(".journal li").nth(1).waitFor()
    assert.match(page.url(), /\/v2\/acts\?q=0x[0-9a-fA-F]{40}$/u)
    await page.goto(`${url}/v2/mine?wallet=${new URL(page.url()).searchParams.get("q")}`)
    assert.match(page.url(), /\/v2\/acts\?q=0x[0-9a-f]{40}$/u)
    await page.goto(`${url}/v2/mine`)

    const kept = await held(page)
    assert.strictEqual(kept.length, 2)
    const saved = await savedBy(page, "Save all as one file")
    await page.getByText("Sealed. A copy is saved elsewhere.").first().waitFor()

    const [first] = kept
    const forged = { words: [...kept, { ...first, salt: "f".repeat(32) }] }
    await other.page.getByLabel("Your saved file").setInputFiles(file(forged))
    await other.page.getByText("2 entries are in this browser now. Left out: 1 entry").waitFor()
    await other.page.getByLabel("Your saved file").setInputFiles(saved)
    await other.page.getByText("2 entries are in this browser now.", { exact: false }).waitFor()
    assert.deepStrictEqual(
      new Set((await held(other.page)).map(({ salt }) => salt)),
      new Set(kept.map(({ salt }) => salt)),
    )
    await other.page.getByLabel("Your saved file").setInputFiles(file({ nothing: true }))
    await other.page.getByText("This is not a file of sealed words.").waitFor()

    await removeOne(other.page)
    for (const { salt } of kept) assert.notInclude(requests.map(sentBy).join(), salt)
    assert.notInclude(requests.map(sentBy).join(), "of two")
  })

  it("drops the oldest saved words of a full browser to pay, and never others", async ({ visit }) => {
    const { page, url } = await visit("/v2/stone")
    await setStone(page, "Only here.")
    await settled(page).waitFor()
    /** Fills the browser to the last character. */
    const fill = (saved: boolean) =>
      page.evaluate((isSaved) => {
        const entry = (at: number) => {
          const commitment = String(at).padStart(64, "0")
          const keptAt = new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString()
          const kept = { salt: "0123456789abcdef", words: "x".repeat(250), commitment, keptAt, saved: isSaved }
          localStorage.setItem(`altar:words:${commitment}`, JSON.stringify(kept))
        }
        const until = (write: (at: number) => void) => {
          try {
            for (let at = 0; ; at += 1) write(at)
          } catch {
            return
          }
        }
        until(entry)
        until((at) => localStorage.setItem(`o${at}`, ""))
      }, saved)
    const wordsLeft = async () => new Set(valuesOf(await held(page), "commitment"))
    await fill(false)
    const all = await wordsLeft()
    await page.goto(`${url}/v2/stone`)
    await page.getByText("Play wallet with").first().waitFor()
    await layStone(page, "Without room.")
    await page.getByText("Cannot pay here.").waitFor()
    assert.strictEqual((await wordsLeft()).size, all.size)
    await fill(true)
    await layStone(page, "With room.")
    await settled(page).waitFor()
    const left = await wordsLeft()
    const [oldest, newest] = [0, all.size - 2].map((at) => String(at).padStart(64, "0"))
    assert.deepStrictEqual([left.has(oldest ?? ""), left.has(newest ?? "")], [false, true])
    assert.includeMembers(valuesOf(await held(page), "words"), ["Only here.", "With room."])
  })

  it("takes a signed payment that is open to another browser, which completes it once", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/spirits/slate-lynx")
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("not paying again").waitFor()
    await page.goto(`${url}/v2/mine`)
    const saved = await savedBy(page, "Save all as one file")
    const { page: other } = await visit("/v2/mine")
    // The script that reads the file may come after the page.
    await other.getByText("No sealed words are in this browser.").waitFor()
    await other.getByLabel("Your saved file").setInputFiles(saved)
    await other.getByText("You signed a payment that is not over").or(settled(other)).first().waitFor()
    await settled(other).waitFor()
    assert.deepStrictEqual(await run(statesAt("slate-lynx")), ["settled"])
  })
})
