/** The check page: receipts and proofs of this altar, part by part, green only where every part holds. */
import { buy, buyForId } from "../lab/buyer/Purchase.ts"
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { sentBy } from "../lab/browser/WordsPage.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guideOf } from "../lab/browser/Guide.ts"
import { ask, TestServer } from "../lab/Fixture.ts"
import { receipts } from "../lab/buyer/ReceiptFiles.ts"
import { reveal, salt } from "../lab/buyer/Sealed.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { cosigningKey } from "../lab/log/Cosigner.ts"
import { until } from "../lab/Eventually.ts"
import { foreignLog } from "../lab/log/MemoryLog.ts"

const log = foreignLog("logs.example/2026", ["tea", "milk", "salt"], [cosigningKey("w1.example")])

const words = { salt, text: "The heron will return by May." }

/** The receipt file and the proof of a revealed stone. */
const stone = Effect.gen(function* () {
  const { url } = yield* TestServer
  const id = yield* buyForId("/api/witness", { commitment: seal(salt, words.text) })
  yield* reveal(id, words.text)
  const { text } = yield* ask(`${url}/witness/${id}.receipt.json`).pipe(until("no proof", ({ json }) => "log" in json))
  return { id, receipt: text, proof: (yield* ask(`${url}/api/witness/${id}/proof`)).text }
})

const drop = (page: Page, name: string, text: string) =>
  page.getByLabel("The file").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) })

const paste = (page: Page, pasted: string) =>
  page.evaluate((text) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData("text", text)
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }))
  }, pasted)

const outcome = (page: Page, kind: "holds" | "broken" | "unchecked", text: string | RegExp) =>
  page.locator(`[data-checker] [role=status] .verdict--${kind}`, { hasText: text }).waitFor()

const linesOf = async (page: Page) =>
  Object.fromEntries(
    (await page.locator("[data-checker] .checks b").allInnerTexts()).map((line) =>
      line.replace(/\.$/u, "").split(": "),
    ),
  )

guideOf({ receipts, log: signing })("the check page", (it) => {
  it("checks a receipt offline, and is not green while a part is unchecked", async ({ run, visit }) => {
    const { receipt } = await run(stone)
    const { page } = await visit("/verify", { bypassCSP: true })
    // Its scripts may still come; no other request gets through.
    await page.route("**/*", (route) =>
      route.request().resourceType() === "script" ? route.continue() : route.abort(),
    )
    await drop(page, "stone.receipt.json", receipt)
    await outcome(page, "unchecked", "6 of 10 parts are right. Not checked: binding, date, key, payment.")
    assert.strictEqual(await page.locator("[data-checker] [role=status] .verdict--holds").count(), 0)
    assert.deepInclude(await linesOf(page), {
      Signature: "right",
      Record: "right",
      Binding: "not checked",
      Words: "right",
      Key: "not checked",
      Payment: "not checked",
    })
    await isAccessible(page, "a checked receipt")
    await drop(page, "forged.receipt.json", receipt.replace('"intention"', '"promise"'))
    await outcome(page, "broken", "This receipt is not right.")
    assert.deepInclude(await linesOf(page), { Signature: "right", Record: "wrong" })
    await drop(page, "half.receipt.json", receipt.slice(0, receipt.length / 2))
    await outcome(page, "broken", "A damaged receipt file.")
    await drop(page, "forged.receipt.json", receipt.replace("heron", "raven"))
    await outcome(page, "broken", "This receipt is not right.")
    assert.deepInclude(await linesOf(page), { Record: "right", Words: "wrong" })
  })

  it("dates saved words that are dropped or pasted by their stone, and sends none", async ({ run, visit }) => {
    const { page } = await visit("/verify")
    const requests = watch(page)
    const text = "The ferry stops in June."
    const saved = { salt: words.salt, words: text, commitment: seal(words.salt, text) }
    await drop(page, "words.json", JSON.stringify(saved))
    await outcome(page, "holds", "These words and this salt match the commitment of the file.")
    await run(buy("/api/witness", { commitment: saved.commitment }))
    await paste(page, JSON.stringify(saved))
    await outcome(
      page,
      "holds",
      /These words existed on \d+ \w+ \d{4}\. The fingerprint, computed here, is the commitment of stone \d+\./u,
    )
    assert.notInclude(sentBy(requests), "ferry")
    assert.notInclude(sentBy(requests), words.salt)
    await drop(page, "words.json", JSON.stringify({ ...saved, words: "The raven will return by May." }))
    await outcome(page, "broken", "These words and this salt do not match the commitment of the file.")
  })

  it("sends the fingerprint of another pasted text, which may be a secret, on order alone", async ({ visit }) => {
    const { page } = await visit("/verify")
    const requests = watch(page)
    const fingerprint = createHash("sha256").update("The heron wins.").digest("hex")
    // The script hears pastes once it has taken a file.
    await drop(page, "empty.txt", "")
    await outcome(page, "unchecked", "The file is empty.")
    await paste(page, "The heron wins.")
    await outcome(page, "unchecked", "Nothing was sent.")
    await page.waitForLoadState("networkidle")
    assert.notInclude(sentBy(requests), fingerprint)
    await page.getByRole("button", { name: "Look for its stone" }).click()
    await outcome(page, "unchecked", fingerprint)
    assert.include(sentBy(requests), fingerprint)
  })

  it("opens the stone of a file, and names the fingerprint of one that no stone has", async ({ run, visit, url }) => {
    const text = "The plan of the bridge."
    const commitment = createHash("sha256").update(text).digest("hex")
    const { page } = await visit("/verify")
    await drop(page, "plan.txt", text)
    await outcome(page, "unchecked", commitment)
    const {
      record: { id },
    } = await run(buy("/api/witness", { commitment, kind: "hash" }))
    await drop(page, "plan.txt", text)
    await outcome(
      page,
      "holds",
      /This file existed on \d+ \w+ \d{4}\. The fingerprint, computed here, is the commitment of stone \d+\./u,
    )
    await page.getByRole("link", { name: "See the stone" }).click()
    await page.waitForURL(`${url}/witness/${id}`)
    await page.goto(`${url}/verify`)
    await drop(page, "empty.txt", "")
    await outcome(page, "unchecked", "The file is empty.")
  })

  it("leaves the receipt of another shop to the command", async ({ run, visit }) => {
    const { receipt } = await run(stone)
    const { page } = await visit("/verify")
    await page.route("**/verify", async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/data-keys="[^"]*"/u, 'data-keys="[]"')
      await route.fulfill({ response, body })
    })
    await page.reload()
    await drop(page, "stone.receipt.json", receipt)
    await outcome(page, "unchecked", "Another shop signed it: check it with spirit-altar verify --receipt.")
  })

  it("checks the proof of a stone, broken for another, and leaves other logs to the command", async ({
    run,
    visit,
  }) => {
    const { proof } = await run(stone)
    const { page } = await visit("/verify")
    await drop(page, "stone.tlog-proof", proof)
    await page.locator("[data-checker] .checks li", { hasText: "Entry: right." }).waitFor()
    assert.deepInclude(await linesOf(page), { Checkpoint: "right", Entry: "right" })
    const chain = "**/api/witness/chain?*"
    await page.route(chain, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/"commitment":"./u, (one) =>
        one.replace(/.$/u, one.endsWith("0") ? "1" : "0"),
      )
      await route.fulfill({ response, body })
    })
    await drop(page, "stone.tlog-proof", proof)
    await outcome(page, "broken", "This proof is not right.")
    assert.deepInclude(await linesOf(page), { Entry: "wrong" })
    await page.unroute(chain)
    await page.route(chain, (route) => route.abort())
    await drop(page, "stone.tlog-proof", proof)
    await outcome(page, "unchecked", "Not checked.")
    await drop(page, "tea.tlog-proof", log.proof(1))
    await outcome(page, "unchecked", "It is of another log: check it with spirit-altar verify-proof.")
  })
})
