/** The acts of a wallet and the box of sealed words of a browser. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { seal } from "../../src/altar/Hashes.ts"
import { isAccessible, appearancesOf, assertAppearance } from "../lab/browser/Browser.ts"
import { fill, guide, settled } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { cutOff, fundAndLay, statesAt, watch } from "../lab/browser/PrayerPage.ts"
import { file, held, keep, keepsakeOf, layStone, sentBy, setStone } from "../lab/browser/WordsPage.ts"
import { bought, newCommitment, newPayer } from "../lab/Fixture.ts"

guide("the page of my acts", (it) => {
  it("finds acts by wallet, and a box of sealed words is saved to one file and restored", async ({ visit }) => {
    const { complaints, page, url } = await visit("/v2/mine", { bypassCSP: true })
    const other = await visit("/v2/mine", { bypassCSP: true })
    const requests = [watch(page), watch(other.page)]
    await page.getByText("No sealed words are in this browser.").waitFor()
    await isAccessible(page, "an empty box")
    for (const words of ["The first of two.", "<b>The second</b> of two."]) {
      await page.goto(`${url}/v2/stone`)
      if (words.startsWith("The first")) await setStone(page, words)
      else {
        await page.getByText("Play wallet with").first().waitFor()
        await layStone(page, words)
      }
      await settled(page).waitFor()
    }
    await page.getByRole("link", { name: "My acts" }).first().click()
    await page.locator(".box > li").nth(1).waitFor()
    const box = await page.locator(".box").innerText()
    assert.match(box, /Witness stone 2[^]*<b>The second<\/b> of two\.[^]*Witness stone 1[^]*The first of two\./u)
    assert.match(box, /Only in this browser\./u)
    // The wallet that paid is offered; its acts say whether their words are here.
    await page.getByText("Paid from this browser:").getByRole("link").click()
    await page.locator(".journal li").nth(1).waitFor()
    await page.getByText("its words are in this browser").first().waitFor()
    await page.getByText("Salt, words and commitment").first().click()
    await page.locator(".keepsake").waitFor()
    await assertAppearance(page, appearancesOf(360, 1280), "my acts", "guide-mine")
    const mine = page.url()
    assert.match(mine, /\/v2\/mine\?wallet=0x[0-9a-fA-F]{40}$/u)

    const kept = await held(page)
    assert.strictEqual(kept.length, 2)
    const saving = page.waitForEvent("download")
    await page.getByRole("link", { name: "Save all as one file" }).click()
    const saved = await keep(await saving)
    await page.getByText("You saved a copy.").first().waitFor()

    await other.page.goto(mine)
    await other.page.getByText("its words are not in this browser").first().waitFor()
    const [first] = kept
    const forged = { words: [...kept, { ...first, salt: "f".repeat(32) }] }
    await other.page.getByLabel("Your saved file").setInputFiles(file(forged))
    await other.page.getByText("2 entries are in the box now. 1 entry did not match").waitFor()
    await other.page.getByLabel("Your saved file").setInputFiles(saved)
    await other.page.getByText("2 entries are in the box now.", { exact: false }).waitFor()
    assert.deepStrictEqual(
      new Set((await held(other.page)).map(({ salt }) => salt)),
      new Set(kept.map(({ salt }) => salt)),
    )
    await other.page.getByText("its words are in this browser").first().waitFor()
    await other.page.getByLabel("Your saved file").setInputFiles(file({ nothing: true }))
    await other.page.getByText("That is no file of sealed words").waitFor()

    await other.page.getByText("Salt, words and commitment").first().click()
    await other.page.getByRole("button", { name: "Remove from this browser" }).click()
    await other.page.getByRole("button", { name: "Keep them" }).click()
    assert.strictEqual((await held(other.page)).length, 2)
    await other.page.getByRole("button", { name: "Remove from this browser" }).click()
    await other.page.getByRole("button", { name: "Remove", exact: true }).click()
    await other.page.locator(".box > li").nth(1).waitFor({ state: "detached" })
    assert.strictEqual((await held(other.page)).length, 1)

    for (const { salt } of kept) assert.notInclude(requests.map(sentBy).join(), salt)
    assert.notInclude(requests.map(sentBy).join(), "of two")
    assert.deepStrictEqual([...complaints, ...other.complaints], [])
  })

  it("takes a signed payment that is open to another browser, which completes it once", async ({ run, visit }) => {
    const { page, url } = await visit("/v2/spirits/slate-lynx")
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("not paying again").waitFor()
    await page.goto(`${url}/v2/mine`)
    const saving = page.waitForEvent("download")
    await page.getByRole("link", { name: "Save all as one file" }).click()
    const saved = await keep(await saving)
    const { page: other } = await visit("/v2/mine")
    // The script that reads the file may come after the page.
    await other.getByText("No sealed words are in this browser.").waitFor()
    await other.getByLabel("Your saved file").setInputFiles(saved)
    await other.getByText("You signed a payment that is not over").or(settled(other)).first().waitFor()
    await settled(other).waitFor()
    assert.deepStrictEqual(await run(statesAt("slate-lynx")), ["settled"])
  })

  it("lists everything of a wallet with more than fifty acts, page by page", async ({ run, visit }) => {
    const payer = await run(newPayer())
    const set = Effect.suspend(() => bought("/api/witness", { commitment: newCommitment() }, payer))
    await run(Effect.replicateEffect(set, 52, { concurrency: 4 }))
    const { page } = await visit(`/v2/mine?wallet=${payer.address}`)
    const acts = page.locator(".journal li")
    assert.strictEqual(await acts.count(), 50)
    await page.getByRole("link", { name: "My older acts" }).click()
    await page.getByRole("link", { name: "My newest acts" }).waitFor()
    assert.strictEqual(await acts.count(), 2)
    await page.getByText("its words are not in this browser").first().waitFor()
  })

  it("warns about restored words that could not be stored", async ({ visit }) => {
    const { page } = await visit("/v2/mine")
    const [salt, words] = ["0123456789abcdef", "No room at all."]
    await page.getByText("No sealed words are in this browser.").waitFor()
    await fill(page, 100)
    await page.getByLabel("Your saved file").setInputFiles(file({ salt, words, commitment: seal(salt, words) }))
    await page.getByText("1 entry. No room here: imports are gone when you leave.").waitFor()
    assert.deepStrictEqual(await held(page), [])
  })

  it("finds acts by a browser wallet, or by the play wallet of the tab", async ({ visit }) => {
    const { page, url } = await visit("/v2/mine")
    await page.getByRole("button", { name: "Ask my wallet" }).click()
    await page.getByText("No wallet was found in this browser.").waitFor()
    await page.goto(`${url}/v2/stone`)
    await take(page, "Set the stone")
    await page.goto(`${url}/v2/mine`)
    await page.getByRole("button", { name: "Ask my wallet" }).click()
    await page.getByText("Nothing here was paid by").waitFor()
    // Words that were sealed here may have been paid for elsewhere.
    await page.goto(`${url}/v2/stone`)
    await page.getByText("Seal words in this browser").click()
    await page.locator("#seal-words").fill("Paid by an agent.")
    await page.getByRole("button", { name: "Seal", exact: true }).click()
    await page.getByText("Not saved yet.").waitFor()
    const { commitment } = await keepsakeOf(page)
    await page.goto(`${url}/v2/mine`)
    await page.getByText("No act known yet.").waitFor()
    await page.getByRole("link", { name: "Look for its stone" }).click()
    await page.getByText(`Nothing found for`).waitFor()
    assert.include(page.url(), commitment)
  })

  it("says what is wrong with a wallet address, and what needs a script", async ({ visit }) => {
    const { page, url } = await visit("/v2/mine?wallet=%3Cb%3E", { javaScriptEnabled: false })
    assert.match(await page.getByRole("alert").innerText(), /^<b> is no wallet\./u)
    assert.isTrue(await page.getByText("Without script, a file you saved").isVisible())
    assert.isFalse(await page.getByRole("button", { name: "Ask my wallet" }).isVisible())
    await page.getByRole("textbox", { name: "Wallet" }).fill(`0x${"1".repeat(40)}`)
    await page.getByRole("button", { name: "Show" }).click()
    await page.getByText("Nothing here was paid by").waitFor()
    assert.strictEqual(page.url(), `${url}/v2/mine?wallet=0x${"1".repeat(40)}`)
  })
})
