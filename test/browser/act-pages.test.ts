/** The page of an act shows what its buyer came for: the answer, the way to its neighbours, and the payment. */
import { assert } from "@effect/vitest"
import { ask } from "../lab/Fixture.ts"
import { guide, createAct } from "../lab/browser/Guide.ts"

guide("the page of an act", (it) => {
  it("shows the spirit's answer to a prayer, and the act's address to copy", async ({ run, url, visit }) => {
    const { id } = await run(
      createAct("/api/prayers/ribbon-eel", { agentName: "Wren", intentionCommitment: `${"0".repeat(63)}1` }),
    )
    const { page } = await visit(`/acts/${id}`)
    await page.getByText("Ribbon Eel answered.").waitFor()
    assert.strictEqual(await page.locator("#share-address").innerText(), `${url}/acts/${id}`)
  })

  it("folds record and receipt below the words, for keyboard and print to open", async ({ run, visit }) => {
    const { id } = await run(createAct("/api/acquire/kelp-seal", { reason: "It hums." }))
    const { page } = await visit(`/acts/${id}`)
    const receipt = page.locator("#receipt-title")
    const isShown = () => receipt.evaluate((heading) => heading.checkVisibility({ contentVisibilityAuto: true }))
    assert.isFalse(await isShown())
    await page.emulateMedia({ media: "print" })
    assert.isTrue(await isShown())
    await page.emulateMedia({ media: "screen" })
    assert.isFalse(await isShown())
    await page.locator("[data-evidence] > summary").focus()
    await page.keyboard.press("Enter")
    assert.isTrue(await isShown())
  })

  it("leads from a light to its candle", async ({ run, visit }) => {
    const candle = await run(createAct("/api/candles/week/moss-hare", { dedication: "For Grandma, who kept bees" }))
    const light = await run(createAct("/api/candles/day/moss-hare", { parentId: candle.id, agentName: "Ilse" }))
    const { page } = await visit(`/acts/${light.id}`)
    await page.getByRole("link", { name: "See the candle of this light" }).click()
    await page.getByText("For Grandma, who kept bees").first().waitFor()
  })

  it("leads to the sandbox's page of the transaction, which names the transfer", async ({ run, url, visit }) => {
    const { id } = await run(createAct("/api/acquire/moss-hare", {}))
    const { json } = await run(ask(`${url}/api/acts/${id}`))
    const { receipt } = JSON.parse(JSON.stringify(json["act"]))
    const { page } = await visit(`/sandbox/transactions/${receipt.transaction}`)
    const transfer = await page.getByRole("listitem").first().innerText()
    assert.include(transfer, "0.01 USDC (play money)")
    assert.include(transfer.toLowerCase(), receipt.payer.toLowerCase())
    const asked = await run(ask(`${url}/sandbox/transactions/${receipt.transaction}`))
    assert.strictEqual(asked.json["ok"], true)
  })
})
