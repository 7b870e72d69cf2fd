/** Journals and pages of an earlier version mean what they meant: payments are resent, words revealed, and days counted. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { stateOf } from "../../src/buyer/core/Purchase.ts"
import { purchasesIn } from "../../src/buyer/Purchases.ts"
import { buyer } from "../../src/buyer/index.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"
import { newFolder } from "../lab/Folders.ts"
import { asking, payTo as payer } from "../lab/buyer/Offers.ts"
import { rejected } from "../lab/Assertions.ts"

const stored = (file: string) => readFileSync(new URL(`../lab/stored/${file}`, import.meta.url), "utf8")
/** A minute after the version of the fixtures wrote them. */
const soonAfter = new Date("2026-11-28T21:35:00.000Z")

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: soonAfter }))
afterEach(() => void vi.useRealTimers())

const journal = () => {
  const file = join(newFolder(), "journal.db")
  const database = new DatabaseSync(file)
  database.exec(stored("journal.sql"))
  database.close()
  return open(file)
}

describe("a journal's file of an earlier version", () => {
  it("shows where each purchase stands, and what may be forgotten", async () => {
    const kept = journal()
    const states = (await purchasesIn(kept).all()).map((purchase) => [purchase.key, stateOf(purchase)])
    assert.deepStrictEqual(states, [
      ["settled-and-revealed", "settled"],
      ["settled-and-sealed", "settled"],
      ["signed-and-open", "open"],
      ["failed-early-still-usable", "failed"],
      ["never-signed-for", "not signed"],
      ["recorded-as-another", "misrecorded"],
    ])
    const { forget } = buyer({ url: "https://altar.example", journal: kept })
    await forget("settled-and-revealed")
    for (const [key] of states.slice(1))
      assert.strictEqual((await rejected(forget(key ?? ""))).code, "not_forgettable", key)
  })

  it("counts its signatures and forgotten ones for their day, and signs nothing beside a failed one still usable", async () => {
    const purchases = purchasesIn(journal())
    const failed = await purchases.find("failed-early-still-usable")
    const begin = (key: string, url = failed?.url ?? "") =>
      purchases.begin(key, async () => ({ act: "lightDay", url, altar: failed?.altar ?? "", request: {} }))
    const waits: Array<number> = []
    const wait = async (seconds: number) => {
      waits.push(seconds)
      vi.setSystemTime(Date.now() + seconds * 1000)
    }
    const sums: Array<unknown> = []
    const approve = (spentToday: bigint, known: unknown) => (sums.push(spentToday, known), undefined)
    const signing = { challenge: asking(), payer, approve, sign: async () => "header", wait }
    await purchases.signOnce({ ...signing, purchase: await begin("another-key-of-mine") })
    assert.deepStrictEqual(waits, [(Date.parse(failed?.openUntil ?? "") - soonAfter.getTime()) / 1000])
    // Four acts for a cent, a candle, and the forgotten one.
    assert.deepStrictEqual(sums, [1_050_000n, { network: "eip155:84532", payTo: asking().accepts[0].payTo }])
  })

  it("resends the signed payment of an open purchase, and reveals its words by the id of their act", async () => {
    const kept = journal()
    const [open, settled] = await Promise.all(
      ["signed-and-open", "settled-and-sealed"].map((key) => purchasesIn(kept).find(key)),
    )
    const sent: Array<unknown> = []
    const send: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      sent.push(request.url, request.headers.get("payment-signature") ?? JSON.parse(await request.text()))
      return Response.json({ ok: false, code: "payment_failed", message: "No.", reason: "expired" }, { status: 402 })
    }
    const altar = buyer({ url: "https://other.example", journal: kept, fetch: send })
    assert.strictEqual((await rejected(altar.resume("signed-and-open"))).code, "payment_failed")
    assert.deepStrictEqual(sent.splice(0), [open?.url, open?.payment?.header])
    const id = settled?.settled?.id ?? ""
    await rejected(altar.unseal(id))
    assert.deepStrictEqual(sent[1], settled?.sealed)
  })
})
