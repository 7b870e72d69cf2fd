/** `admin refunded`: records a transfer back to a payer, which the chain must show. */
import { Duration, Effect, Layer, Option, Schema } from "effect"
import { Argument } from "effect/cli"
import { Administration } from "../../admin/Administration.ts"
import { Chain } from "../../payments/x402/chain/Chain.ts"
import { inLowerCase, Word } from "../../payments/x402/chain/Eip3009.ts"
import { checked, Refunds } from "../../payments/store/Refunds.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { payments as configuredPayments } from "../../server/config/Config.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { onDatabase } from "../Database.ts"
import { optionalText, word } from "../Define.ts"
import { print } from "../Output.ts"
import { actorOf, by, isId } from "./Changes.ts"

const isHash = Schema.is(Word)

const trouble = (message: string) => new CommandFailure({ message: `${message} Nothing was recorded.` })

const paymentOf = Effect.fnUntraced(function* (what: string) {
  const [payment, ...more] = yield* (yield* Refunds).find(what)
  if (payment === undefined)
    return yield* trouble("No payment matches. A failed attempt has nothing to refund until its transfer is found.")
  if (more.length > 0) return yield* trouble("This transaction made several payments: name one by its nonce.")
  return payment
})

export const refunded = onDatabase("refunded", {
  description:
    "Record a refund that you sent, from any wallet. The chain of RPC_URL must show that the transaction moved at least its amount to the payer, in a final block. Each payment and each transaction counts once. The refund is shown on the act, its receipt file and its reconcile answer. spirit-altar admin attempts lists payments that bought nothing.",
  examples: { "spirit-altar admin refunded ID 0x… --reason 'bought nothing'": "Record a refund" },
  flags: {
    attempt: word("attempt", "Id of the act or failed attempt; of an unmatched payment its transaction or nonce").pipe(
      Argument.filter(
        (what) => isId(what) || isHash(what),
        () => "the id of an attempt, or the transaction or nonce of a payment. Nothing was recorded.",
      ),
    ),
    transaction: word("transaction", "Hash of the transaction that paid it back").pipe(
      Argument.filter(isHash, () => "the hash of a transaction. Nothing was recorded."),
    ),
    reason: optionalText("reason", "Reason, for the audit alone"),
    by,
  },
  run: Effect.fnUntraced(function* ({ attempt, by, reason, transaction }) {
    const settings = yield* configuredPayments
    if ("length" in settings)
      return yield* trouble(`A refund needs the server's settings of payments: set ${settings.join(", ")}.`)
    const { rpcUrl } = settings
    const payment = yield* paymentOf(attempt)
    const refund = yield* Effect.provide(
      checked(payment, inLowerCase(transaction)),
      Layer.merge(Chain.layer({ rpcUrl, timeout: Duration.seconds(10) }), DatabaseClock.layer),
    )
    const why = Option.getOrElse(reason, () => "refunded")
    yield* (yield* Administration).refunded(payment.payment, refund, actorOf({ by, why }))
    yield* print(
      { ok: true, refund },
      `Recorded: ${refund.transaction} returned ${refund.amountAtomic} atomic USDC to ${refund.payer}.`,
    )
  }),
})
