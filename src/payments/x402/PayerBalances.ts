/** What a wallet can still pay with: its balance, and what of its payments in flight the balance has already left for. */
import { Clock, Context, Effect, Layer } from "effect"
import { hexToBigInt, numberToHex } from "viem"
import type { InFlight, PayerBalance } from "../ledger/Claim.ts"
import { Chain } from "./Chain.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import { authorizationStateData, type SignedAuthorization } from "./Eip3009.ts"
import { ask, balanceOf } from "./Rpc.ts"

export class PayerBalances extends Context.Service<
  PayerBalances,
  {
    /** The wallet's balance at the newest block. */
    current(authorization: SignedAuthorization): Effect.Effect<PayerBalance, ChainUnavailable>
    /**
     * What the wallet would hold had none of these paid yet. A payment in flight may have left the balance before we
     * have recorded it: it must not be counted twice.
     */
    beforePayments(
      authorization: SignedAuthorization,
      inFlight: ReadonlyArray<InFlight>,
    ): Effect.Effect<PayerBalance, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/PayerBalances") {
  static readonly layer = Layer.effect(
    PayerBalances,
    Effect.gen(function* () {
      const { client } = yield* Chain

      const current = Effect.fn("PayerBalances.current")(function* ({ asset, from }: SignedAuthorization) {
        const asOfMillis = yield* Clock.currentTimeMillis
        return { balanceAtomic: yield* balanceOf(client, asset, from, "latest"), asOfMillis, isExact: false }
      })

      const beforePayments = Effect.fn("PayerBalances.beforePayments")(function* (
        { asset, from }: SignedAuthorization,
        inFlight: ReadonlyArray<InFlight>,
      ) {
        const asOfMillis = yield* Clock.currentTimeMillis
        const number = yield* ask("eth_blockNumber", () =>
          client.request({ method: "eth_blockNumber" }).then(hexToBigInt),
        )
        const block = numberToHex(number)
        const paid = inFlight.map(({ amountAtomic, nonce }) =>
          ask("eth_call", () =>
            client
              .request({
                method: "eth_call",
                params: [{ to: asset, data: authorizationStateData(from, nonce) }, block],
              })
              .then((used) => (BigInt(used) === 1n ? amountAtomic : 0n)),
          ),
        )
        const parts = yield* Effect.all([balanceOf(client, asset, from, block), ...paid], { concurrency: "unbounded" })
        return { balanceAtomic: parts.reduce((sum, part) => sum + part, 0n), asOfMillis, isExact: true }
      })

      return PayerBalances.of({ current, beforePayments })
    }),
  )
}
