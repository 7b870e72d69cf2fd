/** A signature is made outside a journal's turn: the journal stays free, and only the newest reservation's is stored. */
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import type { Purchase } from "../../src/buyer/core/Purchase.ts"
import { purchasesIn, type Signing } from "../../src/buyer/Purchases.ts"
import { buyer, type Journal, memoryJournal } from "../../src/buyer/index.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"
import { rejected, valuesOf } from "../lab/Assertions.ts"
import { altar, asking, payTo as payer, stoneUrl as url } from "../lab/buyer/Offers.ts"
import { newFolder } from "../lab/Folders.ts"

const folder = newFolder()
const key = "a-key-of-one-purchase"
const midday = new Date("2026-11-21T12:00:00.000Z")
/** The lifetime of an offered payment. */
const lifetimeMs = 300_000
/** How long a call waits for the signature of another one under its key. */
const patienceMs = 10_000

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: midday }))
afterEach(() => void vi.useRealTimers())

const later = (ms: number) => void vi.setSystemTime(Date.now() + ms)

const begun = (journal: Journal, at = key) =>
  purchasesIn(journal).begin(at, async () => ({ act: "setWitnessStone", url, altar, request: {} }))

const signing = (purchase: Purchase, change: Partial<Signing> = {}): Signing => ({
  purchase,
  challenge: asking(),
  payer,
  approve: () => undefined,
  sign: async () => "header",
  wait: () => Promise.reject(new Error("it waits")),
  ...change,
})

/** A call whose wallet has been asked, and answers when it is told to. */
const askedFor = async (journal: Journal, purchase: Purchase) => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
  const sign = () => (asked.resolve(), answer.promise)
  const ended = purchasesIn(journal).signOnce(signing(purchase, { sign }))
  await asked.promise
  return { ended, answer: answer.resolve, refuse: answer.reject }
}

/** Two connections to the same purchases, as of two processes. */
const shared: Readonly<Record<string, () => readonly [Journal, Journal]>> = {
  "in memory": () => {
    const journal = memoryJournal()
    return [journal, journal]
  },
  "in a file": () => {
    const file = join(folder, `${crypto.randomUUID()}.db`)
    return [open(file), open(file)]
  },
}

describe.each(Object.entries(shared))("a journal %s", (_, connect) => {
  it("serves other calls while a wallet does not answer, and counts what is being signed for the day", async () => {
    const [mine, others] = connect()
    const { answer, ended } = await askedFor(mine, await begun(mine))
    let spent = 0n
    const other = await begun(others, "another-key-of-mine")
    const approve = (spentToday: bigint) => void (spent = spentToday)
    await purchasesIn(others).signOnce(signing(other, { approve: (sum) => (approve(sum), undefined) }))
    assert.strictEqual(spent, 10_000n)
    assert.match((await rejected(purchasesIn(others).forget(key))).message, /its signature is being made/u)
    answer("the signature")
    assert.strictEqual(await ended, "the signature")
    assert.deepStrictEqual(valuesOf(await purchasesIn(others).all(), "reserved"), [undefined, undefined])
  })

  it("gives a second call for the same key the signature of the first", async () => {
    const [mine, others] = connect()
    const { answer, ended } = await askedFor(mine, await begun(mine))
    const waits: Array<number> = []
    const wait = async (seconds: number) => {
      waits.push(seconds)
      answer("the signature")
      await ended
    }
    const sign = () => Promise.reject(new Error("a second signature"))
    const again = await purchasesIn(others).signOnce(signing(await begun(others), { sign, wait }))
    assert.deepStrictEqual([again, waits], ["the signature", [patienceMs / 1000]])
  })

  it("lets another call sign after ten seconds, and then neither stores nor sends the first signature", async () => {
    const [mine, others] = connect()
    const purchase = await begun(mine)
    const { answer, ended } = await askedFor(mine, purchase)
    const wait = async (seconds: number) => later(seconds * 1000)
    const signedAt: Array<number> = []
    const sign = async (nowMs: number) => {
      signedAt.push(nowMs)
      // The first wallet answers while the second is asked.
      answer("the first")
      const refusal = await rejected(ended)
      assert.strictEqual(refusal.code, "not_signed")
      assert.match(refusal.message, /neither stored nor sent\. It charged nothing\.$/u)
      return "the second"
    }
    assert.strictEqual(await purchasesIn(others).signOnce(signing(purchase, { sign, wait })), "the second")
    assert.deepStrictEqual(signedAt, [midday.getTime() + patienceMs])
    assert.strictEqual((await purchasesIn(mine).find(key))?.payment?.header, "the second")
  })

  it("stores no signature that comes when it could pay nothing any more, though no other call signed", async () => {
    const [mine] = connect()
    const { answer, ended } = await askedFor(mine, await begun(mine))
    later(lifetimeMs)
    answer("too late")
    assert.strictEqual((await rejected(ended)).code, "not_signed")
    assert.isUndefined((await purchasesIn(mine).find(key))?.payment)
  })

  it("says of a purchase that is being signed that its outcome is open, not that nothing was charged", async () => {
    const [mine, others] = connect()
    const { answer, ended } = await askedFor(mine, await begun(mine))
    const refusal = await rejected(buyer({ url: altar, journal: others }).resume(key))
    assert.deepStrictEqual([refusal.code, refusal.message.includes("charged")], ["outcome_open", false])
    answer("the signature")
    await ended
  })

  it("does not count what a call takes over from another of the same key for the day", async () => {
    const [mine, others] = connect()
    const purchase = await begun(mine)
    await askedFor(mine, purchase)
    later(patienceMs)
    const sums: Array<bigint> = []
    const approve = (spentToday: bigint) => (sums.push(spentToday), undefined)
    await purchasesIn(others).signOnce(signing(purchase, { approve }))
    assert.deepStrictEqual(sums, [0n])
  })

  it("lets another call sign at once when the clock was set back", async () => {
    const [mine, others] = connect()
    const purchase = await begun(mine)
    await askedFor(mine, purchase)
    later(-3_600_000)
    assert.strictEqual(await purchasesIn(others).signOnce(signing(purchase)), "header")
  })

  it("is free again at once when a wallet refuses", async () => {
    const [mine, others] = connect()
    const purchase = await begun(mine)
    const { ended, refuse } = await askedFor(mine, purchase)
    refuse(new Error("The owner declined."))
    assert.strictEqual((await rejected(ended)).message, "The owner declined.")
    assert.strictEqual(await purchasesIn(others).signOnce(signing(purchase)), "header")
  })
})

it("a signature decodes no purchase of an earlier day that is over", async () => {
  const journal = memoryJournal()
  for (let at = 0; at < 40; at += 1) {
    const purchase = await begun(journal, `the-key-of-purchase-${at}`)
    await purchasesIn(journal).signOnce(signing(purchase))
    const settled = { id: purchase.key, permalink: url, answer: {} }
    await purchasesIn(journal).amend(purchase, { settled })
  }
  later(86_400_000)
  const purchase = await begun(journal)
  const decoded = vi.spyOn(JSON, "parse")
  await purchasesIn(journal).signOnce(signing(purchase))
  assert.isAtMost(decoded.mock.calls.length, 3)
  decoded.mockRestore()
})

it("a full journal refuses before the wallet is asked", async () => {
  const journal = memoryJournal()
  const purchase = await begun(journal)
  const full: Journal = {
    alone: (run) =>
      journal.alone((pages) =>
        run({ ...pages, set: () => Promise.reject(new DOMException("No room.", "QuotaExceededError")) }),
      ),
  }
  let isAsked = false
  const sign = async () => ((isAsked = true), "header")
  const refusal = await rejected(purchasesIn(full).signOnce(signing(purchase, { sign })))
  assert.deepStrictEqual([refusal.code, isAsked], ["journal_unavailable", false])
  assert.match(refusal.message, /This request sent no payment, so it charged nothing\.$/u)
})
