/** The key of a call at an agent's own till, by what the journal already has: a repeated call never buys twice. */
import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import { memoryJournal } from "../../src/buyer/index.ts"
import type { Purchase } from "../../src/buyer/core/Purchase.ts"
import { buyOnce, type Till } from "../../src/cli/mcp/Till.ts"

const input = { words: "The heron will return by May.", kind: "promise" }
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

const newTill = (change: Partial<Till> = {}): Till => ({
  altar: "https://altar.example",
  wallet: "0x1",
  journal: memoryJournal(),
  ...change,
})

/** A buyer that settles nothing: the keys that it was asked to buy under. */
const counter = () => {
  const keys: Array<string> = []
  const buy = async (_: string, { key = "" }: { readonly key?: string }) => {
    keys.push(key)
    return { ok: true, key, replayed: false }
  }
  return { keys, orders: { buy } as never }
}

const keyOf = async (till: Till, given: Readonly<Record<string, Schema.Json>> = input, act = "setWitnessStone") => {
  const { keys, orders } = counter()
  await buyOnce(till, orders, act, given, false)
  return keys[0] ?? ""
}

type Change = Partial<Pick<Purchase, "payment" | "settled" | "failed" | "misrecorded">>

const payment = { header: "e30=", payer: "0x1", amountAtomic: "10000", signedAt: hoursAgo(9_000) }
const settled = (hours: number, signedAt = payment.signedAt): Change => ({
  payment: { ...payment, signedAt },
  settled: { id: "1", permalink: "/", answer: { replayed: false, receipt: { settledAt: hoursAgo(hours) } } },
})

/** The number under which a call buys after a first purchase with this end; undefined where it buys nothing. */
const numberAfter = async (change: Change, wantsAnother = false) => {
  const till = newTill()
  const key = await keyOf(till)
  const purchase = { key, act: "setWitnessStone", url: "", altar: till.altar, request: {}, begunAt: hoursAgo(9_000) }
  await till.journal.alone((pages) => pages.set(`purchase/${key}`, JSON.stringify({ ...purchase, ...change })))
  const { keys, orders } = counter()
  const bought = await buyOnce(till, orders, "setWitnessStone", input, wantsAnother)
  assert.strictEqual(bought.repeated, keys.length === 0)
  assert.notProperty(bought, "replayed")
  return keys[0]?.slice(key.lastIndexOf("-") + 1)
}

describe("a call at the till", () => {
  it.each<readonly [name: string, change: Change, plain: string | undefined, another: string | undefined]>([
    ["was not signed", {}, "1", "1"],
    ["is open, however old", { payment }, "1", "1"],
    ["settled 23 hours ago", settled(23), undefined, "2"],
    ["settled 25 hours ago", settled(25), "2", "2"],
    ["settled before it was signed, as its altar says", settled(9_000, hoursAgo(1)), undefined, "2"],
    ["failed", { payment, failed: "expired" }, "2", "2"],
    ["was misrecorded", { payment, misrecorded: { at: "", differences: [], answer: {}, response: null } }, "1", "1"],
  ])("whose purchase %s resumes it, returns it, or buys under the next number", async (_, change, plain, another) => {
    assert.strictEqual(await numberAfter(change), plain)
    assert.strictEqual(await numberAfter(change, true), another)
  })

  it("has the key of its wallet, altar, act and input, in any spelling, and of a secret of its journal", async () => {
    const till = newTill()
    const key = await keyOf(till)
    assert.match(key, /^till-[0-9a-f]{40}-1$/u)
    const spelled = { kind: "promise", words: `\r\n${input.words} ` }
    assert.strictEqual(await keyOf(till, spelled), key)
    const others = [
      await keyOf(till, { ...input, kind: "prediction" }),
      await keyOf(till, input, "offerPrayer"),
      await keyOf({ ...till, wallet: "0x2" }),
      await keyOf({ ...till, altar: "https://other.example" }),
      await keyOf(newTill()),
    ]
    assert.strictEqual(new Set([key, ...others]).size, 6)
  })
})
