/** What a wallet can still pay with: its balance, and what of its payments in flight the balance has already left for. */
import { Clock, Context, Effect, Layer } from "effect"
import { HexText } from "../Hex.ts"
import type { InFlight, PayerBalance } from "../ledger/Claim.ts"
import { Chain } from "./Chain.ts"
import { type ChainUnavailable, senseless } from "./ChainUnavailable.ts"
import { authorizationStateData, balanceData, readTogether, type SignedAuthorization, togetherCall } from "./Eip3009.ts"
import { balanceOf, reader } from "./Rpc.ts"

const readOutput = reader("eth_call", HexText)

export class PayerBalances extends Context.Service<
  PayerBalances,
  {
    /** The wallet's balance at the newest block. */
    current(authorization: SignedAuthorization): Effect.Effect<PayerBalance, ChainUnavailable>
    /**
     * What the wallet would hold had none of these paid yet. A payment in flight may have left the balance before we
     * have recorded it: it must not be counted twice. They are those since the balance that was too small, so the time is
     * that one's; and one node says all of it at one moment, or what has paid could be both still there and put back.
     */
    beforePayments(
      authorization: SignedAuthorization,
      tooSmall: PayerBalance,
      inFlight: ReadonlyArray<InFlight>,
    ): Effect.Effect<PayerBalance, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/PayerBalances") {
  static readonly layer = Layer.effect(
    PayerBalances,
    Effect.gen(function* () {
      const { ask } = yield* Chain

      const current = Effect.fnUntraced(function* ({ asset, from }: SignedAuthorization) {
        const asOfMillis = yield* Clock.currentTimeMillis
        return { balanceAtomic: yield* balanceOf(ask, asset, from, "latest"), asOfMillis, isExact: false }
      })

      const beforePayments = Effect.fn("PayerBalances.beforePayments")(function* (
        { asset, from }: SignedAuthorization,
        { asOfMillis }: PayerBalance,
        inFlight: ReadonlyArray<InFlight>,
      ) {
        const reads = [balanceData(from), ...inFlight.map(({ nonce }) => authorizationStateData(from, nonce))]
        const answer = yield* Effect.flatMap(ask("eth_call", [togetherCall(asset, reads), "latest"]), readOutput)
        const [balance = 0n, ...used] = yield* Effect.try({
          try: () => readTogether(answer),
          catch: () => senseless("eth_call"),
        }).pipe(
          Effect.filterOrFail(
            (words) => words.length === reads.length,
            () => senseless("eth_call"),
          ),
        )
        const paid = inFlight.map(({ amountAtomic }, index) => (used[index] === 1n ? amountAtomic : 0n))
        return { balanceAtomic: paid.reduce((sum, part) => sum + part, balance), asOfMillis, isExact: true }
      })

      return PayerBalances.of({ current, beforePayments })
    }),
  )
}
