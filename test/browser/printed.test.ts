/** Pages on paper: a stone is one sheet, whose two commands compute its hashes; nothing private is printed. */
import { execFileSync } from "node:child_process"
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { readQrCode } from "../lab/browser/QrCode.ts"
import { guideOf, loggedStone, settled } from "../lab/browser/Guide.ts"
import { setStone } from "../lab/browser/WordsPage.ts"
import { buyForId } from "../lab/buyer/Purchase.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { ask, post } from "../lab/Fixture.ts"

const fitsOneSheet = async (page: Page) => {
  for (const format of ["A4", "Letter"] as const) {
    const pdf = await page.pdf({ format })
    assert.strictEqual(pdf.toString("latin1").match(/\/Type\s*\/Page\b/gu)?.length, 1, format)
  }
}

const computedBy = (shell: string | undefined) =>
  execFileSync("sh", ["-c", shell ?? ""], { encoding: "utf8" }).split(" ")[0]

guideOf({ log: signing })("a printed page", (it) => {
  it("of a stone fits one sheet, with a command for each of its hashes", async ({ visit, url, run }) => {
    const salt = "-n 5% of \\000 it's $SALT\r\n"
    const words = `-e It's 100% "true" \\n \\047 $HOME \`id\`:\n${"Wren ".repeat(60)}`.slice(0, 279).concat(".")
    const { id } = await run(loggedStone({ commitment: seal(salt, words), agentName: "Wren" }))
    const { stone } = JSON.parse((await run(ask(`${url}/api/witness/${id}`))).text)
    const { page } = await visit(`/witness/${id}`, { bypassCSP: true })
    await fitsOneSheet(page)
    const commands = page.locator("pre.command")
    assert.strictEqual(computedBy((await commands.allTextContents())[0]), stone.chainHash)
    const revealed = await run(ask(`${url}/api/witness/${id}/reveal`, post({ salt, text: words })))
    assert.strictEqual(revealed.status, 201, revealed.text)
    await page.reload()
    assert.strictEqual(computedBy((await commands.allTextContents())[1]), stone.commitment)
    await fitsOneSheet(page)
    await page.emulateMedia({ media: "print" })
    const text = (await page.locator("main").innerText()).replace(/\s/gu, "")
    for (const part of [stone.commitment, stone.chainHash, stone.transaction, `/witness/${id}`])
      assert.include(text, part)
    await page.emulateMedia({ media: null })
    // A browser without a screen shows no dialog.
    await page.evaluate(() => Object.assign(window, { print: () => {} }))
    await page.getByRole("button", { name: "Print" }).click()
    const code = page.getByRole("img", { name: "QR code of this page" })
    await code.waitFor()
    assert.strictEqual(await readQrCode(code), `${url}/witness/${id}`)
    await fitsOneSheet(page)
    await page.evaluate(() => dispatchEvent(new Event("afterprint")))
    assert.strictEqual(await code.count(), 0)
  })

  it("of a sealed stone hides its words, which its owner sees on the screen", async ({ visit, url }) => {
    const { page } = await visit("/v2/stone")
    await setStone(page, "Not for paper.")
    await settled(page).waitFor()
    const path = await page.getByRole("link", { name: "See your stone" }).getAttribute("href")
    await page.goto(`${url}${path}`)
    const words = page.getByText("Not for paper.")
    await words.waitFor()
    for (const step of ["Open it", "Keep it sealed"]) {
      await page.emulateMedia({ media: "print" })
      assert.strictEqual(await words.isVisible(), false)
      assert.notInclude(await page.locator("body").innerText(), "Not for paper.")
      await page.emulateMedia({ media: null })
      await page.getByRole("button", { name: step }).click()
    }
  })

  it("of a candle has no heading without its content", async ({ visit, run }) => {
    const intentionCommitment = seal("0123456789abcdef", "For her.")
    const id = await run(buyForId("/api/candles/day/moss-hare", { dedication: "For the bees", intentionCommitment }))
    const { page } = await visit(`/acts/${id}`)
    await page.emulateMedia({ media: "print" })
    assert.deepStrictEqual(await page.locator("h2:visible").allInnerTexts(), ["Record", "Receipt"])
  })
})
