/** The page that checks receipts and proofs: of this altar and of any log, line by line, offline, and nothing is sent. */
import { assert } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { fromText, generate, plainFrom } from "../../src/log/Signer.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { createAct, guide } from "../lab/browser/Guide.ts"
import { ask, post, TestServer } from "../lab/Fixture.ts"
import { foreignLog } from "../lab/log/ForeignLog.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { cosignerOf } from "../lab/log/Witness.ts"
import { until } from "../lab/Eventually.ts"

const receipts = { current: Result.getOrThrow(plainFrom(Result.getOrThrow(generate("receipts-1")))), retired: [] }
const [first, second] = [cosignerOf("w1.example"), cosignerOf("w2.example")]
const log = foreignLog("logs.example/2026", ["tea", "milk", "salt"], [first])

const words = { salt: "5c1fd1e6a0bb4e7f9c2d", text: "The heron will return by May." }

/** The receipt file and the proof of a revealed stone. */
const stone = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { id } = yield* createAct("/api/witness", { commitment: seal(words.salt, words.text) })
  assert.strictEqual((yield* ask(`${url}/api/witness/${id}/reveal`, post(words))).status, 201)
  const { text } = yield* ask(`${url}/witness/${id}.receipt.json`).pipe(until("no proof", ({ json }) => "log" in json))
  return { id, receipt: text, proof: (yield* ask(`${url}/api/witness/${id}/proof`)).text }
})

const file = (name: string, text: string) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) })

const drop = (page: Page, name: string, text: string) => page.getByLabel("The file").setInputFiles(file(name, text))

const submit = (page: Page) => page.getByRole("button", { name: "Check it" }).click()

const outcome = (page: Page, kind: "holds" | "broken" | "unchecked", text: string) =>
  page.locator(`[data-outcome] .verdict--${kind}`, { hasText: text }).waitFor()

/** The state of each line by its name. */
const linesOf = async (page: Page) =>
  Object.fromEntries(
    (await page.locator("[data-lines] b").allInnerTexts()).map((line) => line.replace(/\.$/u, "").split(": ")),
  )

/** The requests of a page once it is loaded, which then loses its network. */
const unplug = async (page: Page) => {
  await page.waitForLoadState("networkidle")
  const requests: Array<string> = []
  page.on("request", (request) => requests.push(request.url()))
  await page.context().setOffline(true)
  return requests
}

guide(
  "the checker",
  (it) => {
    it("checks a receipt of this altar offline, and reports each part", async ({ run, visit }) => {
      const { receipt } = await run(stone)
      const { page } = await visit("/v2/verify", { bypassCSP: true })
      const requests = await unplug(page)
      await drop(page, "stone.receipt.json", receipt)
      await outcome(page, "holds", "This receipt holds. 6 parts checked, none failed. 2 parts unchecked.")
      assert.deepStrictEqual(await linesOf(page), {
        Signature: "checked",
        Claims: "checked",
        Record: "checked",
        Stone: "checked",
        Log: "checked",
        Words: "checked",
        Key: "unchecked",
        Payment: "unchecked",
      })
      assert.match(
        await page.locator("[data-lines]").innerText(),
        /\?\s*Payment: unchecked\. The transfer was not looked up on Base Sepolia, a test network; ask a node/u,
      )
      await page.getByText("What it is checked with").click()
      await isAccessible(page, "a checked receipt")
      await drop(page, "forged.receipt.json", receipt.replace('"intention"', '"promise"'))
      await outcome(page, "broken", "This receipt does not hold. 1 part failed.")
      assert.deepInclude(await linesOf(page), { Signature: "checked", Record: "failed" })
      await page.getByLabel("Or its text").fill(receipt.replace("heron", "raven"))
      await outcome(page, "broken", "1 part failed.")
      assert.deepInclude(await linesOf(page), { Record: "checked", Words: "failed" })
      // A key from elsewhere is the reader's, and a verdict is about the keys that stand there.
      const other = Result.getOrThrow(fromText(Result.getOrThrow(generate("receipts-1")))).vkey
      await page.getByText("What it is checked with").click()
      await page.getByLabel("Key of the receipts").fill(other)
      assert.deepStrictEqual(await linesOf(page), {})
      await drop(page, "stone.receipt.json", receipt)
      assert.strictEqual(await page.getByLabel("Key of the receipts").inputValue(), other)
      await submit(page)
      await outcome(page, "broken", "This receipt does not hold.")
      // A key of another log shows nothing, and is no fault of the file.
      await page.getByLabel("Key of the receipts").fill("")
      await drop(page, "stone.receipt.json", receipt)
      await page.getByText("What it is checked with").click()
      await page.getByLabel("Key of the log", { exact: true }).fill(log.vkey)
      await submit(page)
      await outcome(page, "unchecked", "Nothing shows yet that this receipt holds. None failed.")
      assert.deepInclude(await linesOf(page), { Log: "unchecked" })
      assert.deepStrictEqual(requests, [])
    })

    it("asks for the key of a stranger's receipt, and warns when nothing authorizes it", async ({ run, visit }) => {
      const { receipt } = await run(stone)
      const { page } = await visit("/v2/verify")
      await page.route("**/v2/verify", async (route) => {
        const response = await route.fetch()
        const body = (await response.text()).replace(/data-keys="[^"]*"/u, 'data-keys="[]"')
        await route.fulfill({ response, body })
      })
      await page.reload()
      await drop(page, "stone.receipt.json", receipt)
      await submit(page)
      await outcome(page, "unchecked", "Not checked. Name the key of the receipts.")
      await page.getByLabel("Key of the receipts").fill("nonsense")
      await submit(page)
      await outcome(page, "unchecked", "The key of the receipts is no key.")
      await page.getByLabel("Key of the receipts").fill(log.vkey.replace("logs.example/2026", "receipts-1"))
      await submit(page)
      await outcome(page, "unchecked", "Nothing shows yet that this receipt holds.")
      assert.deepStrictEqual(await linesOf(page), { Signature: "unchecked" })
    })

    it("checks the proof of a stone, also from the search", async ({ run, visit }) => {
      const { proof, receipt } = await run(stone)
      const { page } = await visit("/v2/search")
      await page.getByLabel("Or a file").setInputFiles(file("stone.tlog-proof", proof))
      await page.waitForURL("**/v2/verify")
      await page.getByText("A log proof.").waitFor()
      const requests = await unplug(page)
      await submit(page)
      await outcome(page, "unchecked", "Give the stone that the log is said to hold, as JSON.")
      await page.getByLabel("The entry", { exact: true }).fill(receipt)
      await submit(page)
      await outcome(page, "holds", "This proof holds.")
      const lines = await linesOf(page)
      assert.deepStrictEqual(lines, {
        Checkpoint: "checked",
        Cosignatures: "unchecked",
        Entry: "checked",
        Meaning: "unchecked",
      })
      assert.deepStrictEqual(requests, [])
    })

    it("checks the proof of any log by its key or policy, and names what it cannot check", async ({ visit }) => {
      const { page } = await visit("/v2/verify")
      const requests = await unplug(page)
      await drop(page, "tea.tlog-proof", log.proof(1))
      await page.getByText("It says that the log logs.example/2026 holds entry 2 of 3.").waitFor()
      await page.getByLabel("The entry", { exact: true }).fill("milk")
      await submit(page)
      await outcome(page, "unchecked", "Name the key of the log, or give a policy that names one log.")
      await page.getByLabel("Key of the log", { exact: true }).fill(log.vkey)
      await submit(page)
      await outcome(page, "holds", "This proof holds.")
      assert.deepInclude(await linesOf(page), { Cosignatures: "unchecked", Entry: "checked" })
      await page.getByLabel("What the log holds").selectOption("A file")
      await page.getByLabel("The entry's file").setInputFiles(file("entry.bin", "milk"))
      await page.getByLabel("Key of the log", { exact: true }).fill("")
      const policy = [
        `log ${log.vkey}`,
        ...[first, second].map(({ vkey }, index) => `witness w${index} ${vkey}`),
        "group enough 1 w0 w1",
        "quorum enough",
      ].join("\n")
      const field = page.getByLabel("Or a policy")
      await field.fill("quorum nobody")
      await submit(page)
      await outcome(page, "unchecked", "Line 1 of the policy")
      await field.fill(policy)
      await submit(page)
      await outcome(page, "holds", "This proof holds.")
      assert.deepInclude(await linesOf(page), { Cosignatures: "checked" })
      assert.deepStrictEqual(requests, [])
    })
  },
  { receipts, log: { ...signing, checkpointFile: Option.none() } },
)
