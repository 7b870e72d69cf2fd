/** Reads a wallet's balance, with its payments in flight added back. */
import { Context, Effect, Layer } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import type { InFlight, PayerBalance } from "../store/Claim.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { Chain } from "../chain/Chain.ts"
import { authorizationStateData, balanceData, type SignedAuthorization } from "../chain/Eip3009.ts"
import { all, atBlock, type BlockParameter, callForWord } from "../chain/Rpc.ts"

export class PayerBalances extends Context.Service<PayerBalances>()("spirit-altar/payments/verify/PayerBalances", {
  make: Effect.gen(function* () {
    const { ask, newest } = yield* Chain
    const clock = yield* DatabaseClock
    const read = (asset: Address, data: Hex, block: BlockParameter) => callForWord({ to: asset, data }, block)

    const current = Effect.fnUntraced(function* ({ asset, from }: SignedAuthorization) {
      const asOfMillis = yield* clock.estimate
      const balance = yield* ask(read(asset, balanceData(from), "latest"))
      return { balanceAtomic: BigInt(balance), asOfMillis, isExact: false }
    })

    /**
     * Whether the authorization itself is used, and the wallet's balance before these payments, which may have left it
     * unrecorded and must not count twice. They date from the earlier reading, so its time is kept. All are read at one
     * block.
     */
    const beforePayments = Effect.fn("PayerBalances.beforePayments")(function* (
      { asset, from, nonce: own }: SignedAuthorization,
      { asOfMillis }: PayerBalance,
      inFlight: ReadonlyArray<InFlight>,
    ) {
      const nonces = [own, ...inFlight.map(({ nonce }) => nonce)]
      const reads = [balanceData(from), ...nonces.map((nonce) => authorizationStateData(from, nonce))]
      const answers = yield* atBlock(ask, yield* newest, (at) => all(reads.map((data) => read(asset, data, at))))
      const [balance = 0n, ownState, ...used] = answers.map(BigInt)
      const paid = inFlight.map(({ amountAtomic }, index) => (used[index] === 1n ? amountAtomic : 0n))
      const balanceAtomic = paid.reduce((sum, part) => sum + part, balance)
      return { isUsed: ownState === 1n, balance: { balanceAtomic, asOfMillis, isExact: true } }
    })

    return { current, beforePayments }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
