/** Replacements of stuck transactions: their fees rise to ten times the current one. */
import { assert, it } from "@effect/vitest"
import { raisedFee } from "../../src/payments/x402/settle/Fees.ts"

it("a replacement offers a quarter more, and never above ten times the current fee", () => {
  const now = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 1n }
  const offers: Array<bigint> = []
  for (let fee = raisedFee(now, 900n); fee !== undefined; fee = raisedFee(now, fee.maxFeePerGas))
    offers.push(fee.maxFeePerGas)
  assert.deepStrictEqual(offers.slice(0, 2), [1_126n, 1_408n])
  assert.isAbove(Number(offers.at(-1)), 8_000)
  assert.isAtMost(Number(offers.at(-1)), 10_000)
})
