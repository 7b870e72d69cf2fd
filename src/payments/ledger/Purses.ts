/** What a wallet can still pay with: its balance, and what of its payments in flight the balance has already left for. */
import { Clock, Context, Effect, Layer } from "effect"
import { hexToBigInt, numberToHex } from "viem"
import { Chain, type ChainUnavailable } from "../x402/Chain.ts"
import { authorizationStateData, type SignedAuthorization } from "../x402/Eip3009.ts"
import type { InFlight } from "./PaymentLedger.ts"
import { ask, balanceOf } from "../x402/Rpc.ts"

/** Atomic units that a wallet held when it was looked at, at `asOfMillis` or a little later. */
export interface Purse {
  readonly balanceAtomic: bigint
  readonly asOfMillis: number
  /** Whether what its payments in flight have taken is back in it. */
  readonly isExact: boolean
}

export class Purses extends Context.Service<
  Purses,
  {
    /** The wallet's balance at the newest block. */
    look(authorization: SignedAuthorization): Effect.Effect<Purse, ChainUnavailable>
    /**
     * What the wallet would hold had none of these paid yet. A payment in flight may have left the balance before we
     * have recorded it: it must not be counted twice.
     */
    before(
      authorization: SignedAuthorization,
      inFlight: ReadonlyArray<InFlight>,
    ): Effect.Effect<Purse, ChainUnavailable>
  }
>()("spirit-altar/payments/ledger/Purses") {
  static readonly layer = Layer.effect(
    Purses,
    Effect.gen(function* () {
      const { client } = yield* Chain

      const look = Effect.fn("Purses.look")(function* ({ asset, from }: SignedAuthorization) {
        const asOfMillis = yield* Clock.currentTimeMillis
        return { balanceAtomic: yield* balanceOf(client, asset, from, "latest"), asOfMillis, isExact: false }
      })

      const before = Effect.fn("Purses.before")(function* (
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

      return Purses.of({ look, before })
    }),
  )
}
