/** Reads a wallet's balance, with its payments in flight added back, and whether the wallet has code. */
import { Clock, Context, Effect, Layer } from "effect"
import type { InFlight, PayerBalance } from "../store/NewAttempt.ts"
import { Chain } from "../chain/Chain.ts"
import { authorizationStateData, balanceData, type SignedAuthorization } from "../chain/Eip3009.ts"
import { balanceOf, getCode, readAll } from "../chain/Rpc.ts"

export interface PayerBalancesConfig {
  /** Whether a reverting transfer costs us gas. Otherwise wallets are not checked for code. */
  readonly paysGas: boolean
}

export class PayerBalances extends Context.Service<PayerBalances>()("spirit-altar/payments/verify/PayerBalances", {
  make: Effect.fnUntraced(function* ({ paysGas }: PayerBalancesConfig) {
    const { ask } = yield* Chain

    const hasCode = ({ from }: SignedAuthorization) =>
      paysGas ? Effect.map(getCode(ask, from, "latest"), (code) => code.length > 2) : Effect.succeed(false)

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
     * The wallet's balance before these payments, which may have left it unrecorded and must not count twice. They
     * date from the earlier reading, so its time is kept. One call reads all from one node at one block.
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
}) {
  static readonly layer = (config: PayerBalancesConfig) => Layer.effect(this, this.make(config))
}
