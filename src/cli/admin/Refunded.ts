/** `admin refunded`: records a transfer by which the operator paid a payment back, once the chain shows it. */
import { Console, Duration, Effect, Layer, Option } from "effect"
import { Administration } from "../../admin/Administration.ts"
import { inLowerCase } from "../../payments/Hex.ts"
import { Refunds } from "../../payments/store/Refunds.ts"
import { checked } from "../../payments/RefundCheck.ts"
import { Chain } from "../../payments/chain/Chain.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { payments as configuredPayments } from "../../server/config/Config.ts"
import { command, optionalText, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { database, run } from "./AdminDatabase.ts"
import { byOf, isId } from "./Changes.ts"

const isHash = (text: string) => /^0x[0-9a-f]{64}$/iu.test(text)

const trouble = (message: string) => new CommandFailure({ message: `${message} Nothing was recorded.` })

const paymentOf = Effect.fnUntraced(function* (what: string) {
  if (!isId(what) && !isHash(what))
    return yield* trouble(`${plain(what)} is no id of an attempt, and no transaction or nonce of a payment.`)
  const [payment, ...more] = yield* (yield* Refunds).find(what)
  if (payment === undefined)
    return yield* trouble("No payment matches. A failed attempt has nothing to refund until its transfer is found.")
  if (more.length > 0) return yield* trouble("This transaction made several payments: name one by its nonce.")
  return payment
})

export const refunded = command("refunded", {
  description: `Record that you paid a payment back, from any wallet. The chain of RPC_URL must show that the transaction moved at least its amount to the payer, in a final block. Each payment and each transaction counts once. The refund is shown on the act, its receipt file and its reconcile answer. spirit-altar admin attempts lists payments that bought nothing. ${database}`,
  summary: "Record a refund that you sent",
  examples: [["spirit-altar admin refunded ID 0x… --reason 'bought nothing'", "Record a refund"]],
  flags: {
    attempt: word("attempt", "Id of the act or failed attempt; of an unmatched payment its transaction or nonce"),
    transaction: word("transaction", "Hash of the transaction that paid it back"),
    reason: optionalText("reason", "Reason, for the audit alone"),
    by: optionalText("by", "Operator, for the audit, beside this machine's account"),
    json: common.json,
  },
  run: (flags) =>
    run(
      flags,
      Effect.gen(function* () {
        const by = yield* byOf({ by: flags.by, why: Option.getOrElse(flags.reason, () => "refunded") })
        if (!isHash(flags.transaction)) return yield* trouble(`${plain(flags.transaction)} is no transaction.`)
        const settings = yield* configuredPayments
        if ("length" in settings)
          return yield* trouble(`A refund needs the server's settings of payments: set ${settings.join(", ")}.`)
        const { finalTag, rpcUrl } = settings
        const payment = yield* paymentOf(flags.attempt)
        const refund = yield* Effect.provide(
          checked(payment, inLowerCase(flags.transaction)),
          Layer.merge(Chain.layer({ rpcUrl, finalTag, timeout: Duration.seconds(10) }), DatabaseClock.layer),
        )
        yield* (yield* Administration).refunded(payment.payment, refund, by)
        const { amountAtomic, payer, transaction } = refund
        yield* Console.log(
          flags.json
            ? JSON.stringify({ ok: true, refund })
            : `Recorded: ${transaction} returned ${amountAtomic} atomic USDC to ${payer}.`,
        )
      }),
    ),
})
