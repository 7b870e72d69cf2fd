/** What is remembered of payments to save work has an end: the oldest goes, and is worked out again in the same words. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { numberToHex } from "viem"
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import * as Challenges from "../../src/payments/Challenges.ts"
import { UnclaimedPayments } from "../../src/payments/ledger/UnclaimedPayments.ts"
import type { PaidRequest } from "../../src/payments/PaidRequest.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import { PaymentRejected } from "../../src/payments/PaymentRejected.ts"
import { PaymentTerms, type Terms } from "../../src/payments/PaymentTerms.ts"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import { alreadyUsed, type SignedAuthorization } from "../../src/payments/x402/verification/Eip3009.ts"
import { Signatures } from "../../src/payments/x402/verification/Signatures.ts"
import { UsedAuthorizations } from "../../src/payments/x402/evidence/UsedAuthorizations.ts"
import { patience } from "../lab/Patience.ts"

const address = (index: number) => numberToHex(index, { size: 20 })

const terms: Terms = {
  network: "eip155:84532",
  asset: address(1),
  assetName: "USDC",
  assetVersion: "2",
  payTo: address(2),
  maxTimeoutSeconds: 300,
  settledBy: "nobody",
  isCatalogued: false,
  explorer: "https://explorer.example/{tx}",
}

/** By the wallet and with the nonce of this number; no key signed it. */
const authorizationOf = (index: number): SignedAuthorization => ({
  asset: terms.asset,
  from: address(index),
  to: terms.payTo,
  value: 10_000n,
  validAfter: 0n,
  validBefore: 300n,
  nonce: numberToHex(index, { size: 32 }),
  signature: "0x",
})

const kept = 10_000

describe("beyond what is remembered of payments", { timeout: patience(30) }, () => {
  it.effect("an offer is made each time, in the same words", () =>
    Effect.gen(function* () {
      const { required } = yield* Challenges.make
      const offer = (index: number) => {
        const url = `https://altar.example/api/witness?number=${index}`
        const request: PaidRequest = {
          method: "POST",
          url,
          key: undefined,
          payment: undefined,
          card: undefined,
          parameters: {},
          body: "",
        }
        return Effect.flip(required({ ...setWitnessStone.sale, endpoint: setWitnessStone }, request))
      }
      const first = yield* offer(0)
      yield* Effect.forEach(Array.from({ length: 999 }), (_, index) => offer(index + 1), { discard: true })
      const beyond = yield* offer(1_000)
      assert.strictEqual(yield* offer(0), first)
      assert.notStrictEqual(yield* offer(1_000), beyond)
      assert.deepStrictEqual(yield* offer(1_000), beyond)
    }).pipe(Effect.provide([PaymentTerms.ready(terms, ["x402"]), Layer.mock(UnclaimedPayments, {})])),
  )

  it.effect("the node is asked again whether a wallet has code", () => {
    const asked: Array<unknown> = []
    return Effect.gen(function* () {
      const { plausible } = yield* Signatures
      const ask = (index: number) => plausible(authorizationOf(index), terms)
      for (let index = 0; index <= kept; index += 1) assert.isFalse(yield* ask(index))
      assert.lengthOf(asked, kept + 1)
      for (const index of [1, kept]) assert.isFalse(yield* ask(index))
      assert.lengthOf(asked, kept + 1)
      assert.isFalse(yield* ask(0))
      assert.lengthOf(asked, kept + 2)
    }).pipe(
      Effect.provide(
        Signatures.layer.pipe(
          Layer.provide(
            Layer.mock(Chain, {
              ask: (_, params) => Effect.sync(() => (asked.push(params), "0x")),
            }),
          ),
        ),
      ),
    )
  })

  it.effect("the chain is asked again who had an authorization", () => {
    let asked = 0
    return Effect.gen(function* () {
      const { trace } = yield* UsedAuthorizations
      const refusalOf = (index: number) => {
        const authorization = authorizationOf(index)
        const refusal = new PaymentRejected({ reason: alreadyUsed, message: "used" })
        return Effect.flip(trace({ _tag: "Refused", authorization, payload: "{}", refusal, isTraceable: true }, terms))
      }
      const first = yield* refusalOf(0)
      for (let index = 1; index <= kept; index += 1) yield* refusalOf(index)
      assert.strictEqual(asked, kept + 1)
      for (const index of [1, kept]) yield* refusalOf(index)
      assert.strictEqual(asked, kept + 1)
      assert.deepStrictEqual(yield* refusalOf(0), first)
      assert.strictEqual(asked, kept + 2)
    }).pipe(
      Effect.provide(
        UsedAuthorizations.layer.pipe(
          Layer.provide([
            Layer.mock(UnclaimedPayments, { find: () => Effect.succeedNone }),
            Layer.mock(DatabaseClock, { now: Effect.succeed({ millis: 0, aheadMillis: 0 }) }),
            Layer.mock(Chain, {
              usedBy: () => Effect.sync(() => ((asked += 1), { _tag: "Void", reason: "authorization_canceled" })),
            }),
          ]),
        ),
      ),
    )
  })
})
