/** The page of an act shows what its buyer came for: the answer, the way to its neighbours, and the payment. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { ask, newCommitment } from "../lab/Fixture.ts"
import { guide, createAct } from "../lab/browser/Guide.ts"

guide("the page of an act", (it) => {
  it("shows the spirit's answer to a prayer, and the act's address to copy", async ({ run, url, visit }) => {
    const { id } = await run(
      createAct("/api/prayers/ribbon-eel", { agentName: "Wren", intentionCommitment: `${"0".repeat(63)}1` }),
    )
    const { page } = await visit(`/acts/${id}`)
    await page.getByText("Ribbon Eel answered.").waitFor()
    const said = await page.locator("article").innerText()
    assert.strictEqual(said.split("Ribbon Eel").length - 1, 2, "the title and the answer name the spirit")
    assert.strictEqual(await page.locator("#share-address").innerText(), `${url}/acts/${id}`)
    assert.isFalse(await page.getByRole("button", { name: "Share" }).isVisible(), "this platform cannot share")
  })

  it("offers the platform's own way to share its address, where there is one", async ({ run, url, visit }) => {
    const { id } = await run(createAct("/api/witness", { commitment: newCommitment() }))
    const { page } = await visit("/api/health")
    await page.addInitScript(() => {
      const share = (shared: object) => Promise.resolve(Object.assign(window, { shared }))
      Object.defineProperty(navigator, "share", { value: share })
    })
    await page.goto(`${url}/witness/${id}`)
    await page.getByRole("button", { name: "Share" }).click()
    const shared = await page.evaluate(() => Reflect.get(window, "shared"))
    assert.deepStrictEqual(shared, { url: `${url}/witness/${id}` })
  })

  it("leads from stone to stone, and says of the newest that none follows", async ({ run, url, visit }) => {
    const { id } = await run(createAct("/api/witness", { commitment: newCommitment() }))
    const { page } = await visit(`/witness/${id}`)
    await page.getByText("No stone after it yet").waitFor()
    await page.getByRole("link", { name: "Stone 1, before it" }).click()
    await page.getByRole("link", { name: "Stone 2, after it" }).click()
    await page.waitForURL(`${url}/witness/${id}`)
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

  it("names its wallet below a title without one, where the buyer gave no name", async ({ run, url, visit }) => {
    const { id } = await run(createAct("/api/acquire/glass-tortoise", {}))
    const { json } = await run(ask(`${url}/api/acts/${id}`))
    const { receipt } = JSON.parse(JSON.stringify(json["act"]))
    const { page } = await visit(`/acts/${id}`)
    assert.match(await page.title(), /^A visitor became the first keeper of Glass Tortoise/u)
    await page
      .locator(".text")
      .getByRole("link", { name: receipt.payer.slice(0, 6) })
      .click()
    await page.waitForURL(`${url}/v2/wallets/${receipt.payer}`)
  })

  it("quotes a light's candle and leads to it", async ({ run, url, visit }) => {
    const candle = await run(createAct("/api/candles/week/moss-hare", { dedication: "For Grandma, who kept bees" }))
    const light = await run(createAct("/api/candles/day/moss-hare", { parentId: candle.id, agentName: "Ilse" }))
    const { page } = await visit(`/acts/${light.id}`)
    assert.strictEqual(await page.locator("q").innerText(), "For Grandma, who kept bees")
    await page.getByRole("link", { name: "See the candle of this light" }).click()
    await page.waitForURL(`${url}/acts/${candle.id}`)
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

const receipts = { current: Result.getOrThrow(plainFrom(Result.getOrThrow(generate("receipts-1")))), retired: [] }

guide(
  "the page of a signed act",
  (it) => {
    it("links a receipt file only while the server serves one", async ({ run, visit }) => {
      const { id } = await run(createAct("/api/acquire/rain-crow", { reason: "It sat still." }))
      const { page } = await visit(`/acts/${id}`)
      const link = page.getByRole("link", { name: "Its receipt file" })
      const served = () => page.evaluate((path) => fetch(path).then(({ status }) => status), `/acts/${id}.receipt.json`)
      assert.deepStrictEqual([await link.count(), await served()], [1, 200])
      const hiding = Effect.flatMap(Moderation, (moderation) => moderation.hide(id, "reason"))
      await run(Effect.provide(hiding, Moderation.layer))
      await page.reload()
      await page.getByText("hidden by the operator").first().waitFor()
      assert.deepStrictEqual([await link.count(), await served()], [0, 404])
    })
  },
  { receipts },
)
