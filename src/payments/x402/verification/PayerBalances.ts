/** What a wallet can still pay with: its balance, what of its payments in flight that has already left for, and whether it has code. */
import { Clock, Context, Effect, Layer } from "effect"
import type { InFlight, PayerBalance } from "../../ledger/NewAttempt.ts"
import { Chain } from "../node/Chain.ts"
import { authorizationStateData, balanceData, deploymentOf, type SignedAuthorization } from "./Eip3009.ts"
import { balanceOf, getCode, readAll } from "../node/Rpc.ts"

export interface PayerBalancesConfig {
  /** Whether a transfer that reverts costs us gas: only then is it asked whether a wallet has code. */
  readonly paysGas: boolean
}

export class PayerBalances extends Context.Service<PayerBalances>()(
  "spirit-altar/payments/x402/verification/PayerBalances",
  {
    make: Effect.fnUntraced(function* ({ paysGas }: PayerBalancesConfig) {
      const { ask } = yield* Chain

      /** Code that the transfer itself gives the wallet counts, too. */
      const hasCode = ({ from, signature }: SignedAuthorization) =>
        !paysGas || deploymentOf(signature) !== undefined
          ? Effect.succeed(paysGas)
          : Effect.map(getCode(ask, from, "latest"), (code) => code.length > 2)

      /** The wallet's balance and code at the newest block. */
      const current = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
        const asOfMillis = yield* Clock.currentTimeMillis
        const [balanceAtomic, isContract] = yield* Effect.all(
          [balanceOf(ask, authorization.asset, authorization.from, "latest"), hasCode(authorization)],
          { concurrency: "unbounded" },
        )
        return { balanceAtomic, asOfMillis, isExact: false, isContract }
      })

      /**
       * What the wallet would hold had none of these paid yet. A payment in flight may have left the balance before we
       * have recorded it: it must not be counted twice. They are those since the balance that was too small, so the time is
       * that one's; and one node says all of it at one moment, or what has paid could be both still there and put back.
       */
      const beforePayments = Effect.fn("PayerBalances.beforePayments")(function* (
        { asset, from }: SignedAuthorization,
        { asOfMillis, isContract }: PayerBalance,
        inFlight: ReadonlyArray<InFlight>,
      ) {
        const reads = [balanceData(from), ...inFlight.map(({ nonce }) => authorizationStateData(from, nonce))]
        const [balance = 0n, ...used] = yield* readAll(ask, asset, reads)
        const paid = inFlight.map(({ amountAtomic }, index) => (used[index] === 1n ? amountAtomic : 0n))
        return {
          balanceAtomic: paid.reduce((sum, part) => sum + part, balance),
          asOfMillis,
          isExact: true,
          isContract,
        }
      })

      return { current, beforePayments }
    }),
  },
) {
  static readonly layer = (config: PayerBalancesConfig) => Layer.effect(this, this.make(config))
}
