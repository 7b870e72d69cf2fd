/** Journals and pages of an earlier version mean what they meant: payments are resent, words revealed, and days counted. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { bodyOf, stateOf } from "../../src/buyer/core/Purchase.ts"
import { purchasesIn } from "../../src/buyer/Purchases.ts"
import { buyer } from "../../src/buyer/index.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"
import { begin, openFor, pending, readSigned, remembered, takeOver } from "../../src/web/v2/pay/purchase.ts"
import { signOnce } from "../../src/web/v2/pay/journal.ts"
import { everything } from "../../src/web/v2/words/box.ts"
import { storage } from "../lab/browser/Storage.ts"
import { newFolder } from "../lab/Folders.ts"
import { asking, payTo as payer } from "../lab/buyer/Offers.ts"
import { rejected } from "../lab/Assertions.ts"

const stored = (file: string) => readFileSync(new URL(`../lab/stored/${file}`, import.meta.url), "utf8")
const pages = JSON.parse(stored("pages.json"))
/** Soon after the fixtures were written, while what failed early could still be used. */
const soonAfter = new Date("2026-11-28T21:34:05.000Z")

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
    const old = purchasesIn(journal())
    const failed = await old.find("failed-early-still-usable")
    const beginAt = (key: string, url = failed?.url ?? "") =>
      old.begin(key, async () => ({ act: "lightDay", url, altar: failed?.altar ?? "", request: {} }))
    const waits: Array<number> = []
    const wait = async (seconds: number) => {
      waits.push(seconds)
      vi.setSystemTime(Date.now() + seconds * 1000)
    }
    const sums: Array<unknown> = []
    const approve = (spentToday: bigint, known: unknown) => (sums.push(spentToday, known), undefined)
    const signing = { challenge: asking(), payer, approve, sign: async () => "header", wait }
    await old.signOnce({ ...signing, purchase: await beginAt("another-key-of-mine") })
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

describe("a page of an earlier version", () => {
  const visit = ({
    browser,
    tab,
  }: {
    readonly browser: Record<string, string>
    readonly tab: Record<string, string>
  }) => {
    vi.stubGlobal("sessionStorage", storage(tab))
    vi.stubGlobal("localStorage", storage(browser))
    vi.stubGlobal("navigator", { locks: { request: (_: string, run: () => unknown) => run() } })
  }
  afterEach(() => void vi.unstubAllGlobals())
  const signing = {
    challenge: asking(),
    payer,
    approve: () => undefined,
    sign: () => Promise.reject(new Error("again")),
  }

  it("left a signed payment that is sent again and never signed for again", async () => {
    visit(pages.open)
    const old = Object.values<string>(pages.open.browser)
      .map((text) => JSON.parse(text))
      .find(({ payment }) => payment)
    const [purchase, ...others] = pending()
    assert.deepStrictEqual(others, [])
    if (purchase === undefined) throw new Error("it is lost")
    assert.deepStrictEqual(remembered(old.form), purchase)
    assert.strictEqual(bodyOf(purchase.request), old.body)
    assert.deepStrictEqual([purchase.url, purchase.sealed, purchase.recorded], [old.path, old.keepsake, old.recorded])
    const { payment: _, ...unsigned } = purchase
    const wait = () => Promise.reject(new Error("it waits"))
    assert.strictEqual(await signOnce({ ...signing, purchase: unsigned, wait }), old.payment)
    const { signedAt = "" } = purchase.payment ?? {}
    assert.isBelow(soonAfter.getTime() - Date.parse(signedAt), 600_000)
    assert.isAbove(soonAfter.getTime() - Date.parse(signedAt), 0)
  })

  it("left an unsigned purchase and words, which stay", () => {
    visit(pages.begun)
    assert.deepStrictEqual(
      pending().map(({ payment, sealed }) => [payment, sealed?.words]),
      [[undefined, "I came by, and it was quiet."]],
    )
    assert.deepStrictEqual(
      everything().map(({ words }) => words),
      ["I came by, and it was quiet."],
    )
    visit(pages.settled)
    assert.deepStrictEqual(
      everything().map(({ deed, words }) => [words, deed?.title]),
      [["The heron will return by May.", "Witness stone 1"]],
    )
  })

  it("left a failed payment that could still be used, beside which nothing is signed", async () => {
    visit(pages.failedEarly)
    const [purchase] = pending()
    assert.isAbove(openFor("/api/witness"), 0)
    const another = begin(
      "/api/witness",
      { path: "/api/witness", amount: "10000", network: "eip155:84532", title: "Stone" },
      "",
      null,
    )
    const waited = rejected(
      signOnce({
        ...signing,
        purchase: another,
        wait: (seconds) => Promise.reject(new Error(String(seconds))),
      }),
    )
    assert.strictEqual(
      (await waited).message,
      String((Date.parse(purchase?.openUntil ?? "") - soonAfter.getTime()) / 1000),
    )
  })

  it("left the evidence against an altar", () => {
    visit(pages.misrecorded)
    const [purchase] = pending()
    assert.strictEqual(purchase?.misrecorded?.differences[0]?.field, "agentName")
    assert.hasAllKeys(purchase?.misrecorded?.response, ["success", "transaction", "network", "payer"])
  })

  it("saved a file whose payments are taken over", () => {
    visit({ browser: {}, tab: {} })
    const signed = pages.exported.purchases.flatMap((value: unknown) => readSigned(value) ?? [])
    assert.lengthOf(signed, 1)
    takeOver(signed[0])
    assert.deepStrictEqual(pending(), signed)
  })
})
