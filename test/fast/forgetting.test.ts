/** The journal forgets what is over: on request, or by itself when it is full; never what is open or exists nowhere else. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { toBase64 } from "../../src/buyer/core/Authorization.ts"
import { failureOf, type Purchase } from "../../src/buyer/core/Purchase.ts"
import { purchasesIn } from "../../src/buyer/Purchases.ts"
import { buyer, type Journal, memoryJournal } from "../../src/buyer/index.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"
import { altar, asking, id, offer, stoneUrl as url } from "../lab/buyer/Offers.ts"
import { newFolder } from "../lab/Folders.ts"
import { rejected, valuesOf } from "../lab/Assertions.ts"

const payer = offer.payTo
const sealed = { salt: "0123456789abcdef", words: "The heron will return by May." }
const settled = { id, permalink: `${altar}/witness/${id}`, answer: {} }
const inAMinute = () => new Date(Date.now() + 60_000).toISOString()
const evidence = { at: inAMinute(), differences: [], answer: {}, response: null }

type Change = Partial<Purchase>

/** Puts a purchase into a journal, signed unless it says otherwise. */
const put = async (journal: Journal, key: string, { isSigned = true, ...change }: Change & { isSigned?: boolean }) => {
  const purchases = purchasesIn(journal)
  const { sealed: words, ...end } = change
  const draft = { act: "setWitnessStone", url, altar, request: {}, ...(words === undefined ? {} : { sealed: words }) }
  const purchase = await purchases.begin(key, async () => draft)
  const sums: Array<bigint> = []
  const approve = (spentToday: bigint) => (sums.push(spentToday), offer)
  const [sign, wait] = [async () => "a".repeat(900), () => Promise.reject(new Error("it waits"))]
  if (isSigned) await purchases.signOnce({ purchase, challenge: asking(), payer, approve, sign, wait })
  await purchases.amend(purchase, end)
  return sums
}

/** A journal with room for so many characters, as a browser has. */
const bounded = (most: number) => {
  const journal = memoryJournal()
  return {
    alone: <A>(run: Parameters<typeof journal.alone<A>>[0]) =>
      journal.alone((pages) =>
        run({
          ...pages,
          set: async (name, text) => {
            const before = await pages.get(name)
            await pages.set(name, text)
            if ((await pages.all("")).join("").length <= most) return
            await (before === undefined ? pages.remove(name) : pages.set(name, before))
            throw new DOMException("Setting the value exceeded the quota.", "QuotaExceededError")
          },
        }),
      ),
  }
}

const keysIn = async (journal: Journal) => valuesOf(await purchasesIn(journal).all(), "key")

describe("a purchase", () => {
  const folder = newFolder()
  const journals = { "in memory": memoryJournal, "in a file": () => open(join(folder, `${crypto.randomUUID()}.db`)) }

  it.each<readonly [what: string, change: Change & { isSigned?: boolean }, need: RegExp | undefined]>([
    ["signed, without an outcome", {}, /it is open/u],
    ["answered with another act", { misrecorded: evidence }, /it is open/u],
    ["failed after an answer with another act", { misrecorded: evidence, failed: "expired" }, /it is open/u],
    ["failed early", { failed: "unsent", openUntil: inAMinute() }, /still be used for \d+ s/u],
    ["refused as invalid", { failed: "payment_invalid" }, /still be used for \d+ s/u],
    ["settled, with sealed words", { settled, sealed }, /only this journal has its words/u],
    ["unsigned, with sealed words", { sealed, isSigned: false }, /only this journal has its words/u],
    ["failed, with sealed words", { sealed, failed: "expired" }, /only this journal has its words/u],
    ["settled", { settled }, undefined],
    ["settled in the end", { settled, misrecorded: evidence }, undefined],
    ["failed", { failed: "expired" }, undefined],
    ["failed early, past its time", { failed: "unsent", openUntil: new Date(0).toISOString() }, undefined],
    ["unsigned", { isSigned: false }, undefined],
    ["settled, with revealed words", { settled, sealed, released: "revealed" }, undefined],
  ])("that is %s is forgotten only if nothing needs it", async (_, change, need) => {
    for (const journal of Object.values(journals).map((made) => made())) {
      const key = "a-key-of-one-purchase"
      const { released, ...others } = change
      await put(journal, key, others)
      if (released !== undefined) await purchasesIn(journal).release(released, () => true)
      const { exportWords, forget } = buyer({ url: altar, journal })
      if (need !== undefined) {
        const refusal = await rejected(forget(key))
        assert.strictEqual(refusal.code, "not_forgettable")
        assert.match(refusal.message, need)
        assert.deepStrictEqual(await keysIn(journal), [key])
        if (!need.source.includes("words")) continue
        const { commitment, ...exported } = await exportWords(key)
        assert.deepStrictEqual(exported, sealed)
        assert.match(commitment, /^[0-9a-f]{64}$/u)
      }
      await forget(key)
      assert.deepStrictEqual(await keysIn(journal), [])
      for (const gone of [forget(key), exportWords(key)]) assert.strictEqual((await rejected(gone)).code, "key_unknown")
    }
  })

  it("that is forgotten still counts for its day", async () => {
    const journal = memoryJournal()
    const keys = ["first-key-of-today", "second-key-of-today", "third-key-of-today"]
    for (const [at, key] of keys.entries()) {
      assert.deepStrictEqual(await put(journal, key, { settled }), [BigInt(at) * 10_000n])
      await buyer({ url: altar, journal }).forget(key)
    }
    assert.deepStrictEqual(await put(journal, "the-key-of-the-last", {}), [30_000n])
  })

  it("that is forgotten still counts for its day after a clock was put forward and back", async () => {
    const journal = memoryJournal()
    const noon = Date.parse("2026-11-21T12:00:00.000Z")
    const forgetOn = async (key: string, days: number) => {
      vi.useFakeTimers({ toFake: ["Date"], now: noon + days * 86_400_000 })
      const before = await put(journal, key, { settled })
      await buyer({ url: altar, journal }).forget(key)
      return before
    }
    const sums = [await forgetOn("the-key-of-today", 0), await forgetOn("the-key-of-tomorrow", 1)]
    sums.push(await forgetOn("another-key-of-today", 0))
    vi.useRealTimers()
    assert.deepStrictEqual(sums, [[0n], [0n], [10_000n]])
  })
})

describe("a failed payment", () => {
  const paid = (validBefore: number) =>
    toBase64(JSON.stringify({ payload: { authorization: { validBefore: `${validBefore}` } } }))

  it.each([
    ["no end", {}],
    ["an end in the past", { authorizationOpenUntil: new Date(0).toISOString() }],
  ])("could be used until it expires where the altar names %s", (_, claim) => {
    const body = { reason: "authorization_canceled", ...claim }
    const refusal = { status: 402, code: "payment_failed", message: "It failed.", retryAfter: undefined, body }
    const inAMinute = Math.floor(Date.now() / 1000) + 60
    const openUntil = new Date(inAMinute * 1000).toISOString()
    assert.deepStrictEqual(failureOf(refusal, paid(inAMinute)), { failed: "authorization_canceled", openUntil })
    assert.deepStrictEqual(failureOf(refusal, paid(inAMinute - 61)), { failed: "authorization_canceled" })
  })
})

describe("a full journal", () => {
  const fill = async (journal: Journal, count: number, change: Change) => {
    for (let at = 0; at < count; at += 1)
      await put(journal, `the-key-of-purchase-${String(at).padStart(3, "0")}`, change)
  }

  it("forgets its oldest purchases that may go, keeps all others, and counts them for the day", async () => {
    const journal = bounded(20_000)
    await put(journal, "the-key-of-an-open-one", {})
    await put(journal, "the-key-of-sealed-words", { settled, sealed })
    await fill(journal, 60, { settled })
    const keys = await keysIn(journal)
    assert.deepStrictEqual(keys.slice(0, 2), ["the-key-of-an-open-one", "the-key-of-sealed-words"])
    assert.isBelow(keys.length, 20)
    assert.deepStrictEqual(
      keys.slice(2),
      Array.from({ length: keys.length - 2 }, (_, at) => `the-key-of-purchase-0${62 - keys.length + at}`),
    )
    assert.deepStrictEqual(await put(journal, "the-key-of-the-last", { settled }), [620_000n])
  })

  it("refuses a purchase where none may go, before anything is sent", async () => {
    const journal = bounded(9_000)
    const refusal = await rejected(fill(journal, 60, { settled, sealed }))
    assert.strictEqual(refusal.code, "journal_unavailable")
    assert.include(refusal.message, "exceeded the quota")
    assert.isAbove((await keysIn(journal)).length, 2)
  })

  it("forgets nothing because of another failure", async () => {
    const kept = memoryJournal()
    await put(kept, "the-key-of-a-settled", { settled })
    const failing: Journal = {
      alone: (run) =>
        kept.alone((pages) => run({ ...pages, set: () => Promise.reject(new Error("permission denied")) })),
    }
    assert.include((await rejected(put(failing, "another-key-of-mine", {}))).message, "permission denied")
    assert.deepStrictEqual(await keysIn(kept), ["the-key-of-a-settled"])
  })
})
