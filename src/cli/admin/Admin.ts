/** `admin`: inspection and manual changes in the environment's database. */
import { Console, Duration, Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import * as Audit from "../../admin/Audit.ts"
import { command, optionalText, text, word } from "../Define.ts"
import { common } from "../Flags.ts"
import { messages as known } from "../../platform/LogMessages.ts"
import { compact, isolated, plain } from "../Output.ts"
import { limit, onDatabase } from "../Database.ts"
import { attempt, attempts } from "./Attempts.ts"
import { byOf, changes, isId } from "./Changes.ts"
import { printKey } from "../log/Log.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { Administration } from "../../admin/Administration.ts"
import { inLowerCase } from "../../payments/chain/Eip3009.ts"
import { checked, Refunds } from "../../payments/store/Refunds.ts"
import { Chain } from "../../payments/chain/Chain.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { payments as configuredPayments } from "../../server/config/Config.ts"

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

export const refunded = onDatabase("refunded", {
  description: `Record that you paid a payment back, from any wallet. The chain of RPC_URL must show that the transaction moved at least its amount to the payer, in a final block. Each payment and each transaction counts once. The refund is shown on the act, its receipt file and its reconcile answer. spirit-altar admin attempts lists payments that bought nothing.`,
  summary: "Record a refund that you sent",
  examples: [["spirit-altar admin refunded ID 0x… --reason 'bought nothing'", "Record a refund"]],
  flags: {
    attempt: word("attempt", "Id of the act or failed attempt; of an unmatched payment its transaction or nonce"),
    transaction: word("transaction", "Hash of the transaction that paid it back"),
    reason: optionalText("reason", "Reason, for the audit alone"),
    by: optionalText("by", "Operator, for the audit, beside this machine's account"),
    json: common.json,
  },
  run: Effect.fnUntraced(function* (flags) {
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
})

export const receiptKey = command("receipt-key", {
  description:
    "Make a random key for receipts, and print it with its verifier key. Nothing is stored. After a rotation, list the old verifier key in RECEIPT_KEYS_RETIRED, so that old receipts stay valid",
  summary: "Make a key for receipts, and its verifier key",
  examples: [["spirit-altar admin receipt-key --name receipts-2026-11 >> .env", "A first key"]],
  flags: {
    name: text("name", "Name of the key in /.well-known/did.json, never used before, such as receipts-2026-11"),
  },
  run: ({ name }) =>
    /^[A-Za-z0-9._-]{1,64}$/u.test(name)
      ? printKey(name, "RECEIPT_KEY", `The verifier key of ${name}, for RECEIPT_KEYS_RETIRED after a rotation`)
      : new CommandFailure({ message: `${name} names no key: use 1 to 64 of A-Z a-z 0-9 . _ -` }),
})

const audit = onDatabase("audit", {
  description: `Manual changes with operator, time and reason, newest first.`,
  summary: "Manual changes",
  examples: [["spirit-altar admin audit --json", "As one document"]],
  flags: { json: common.json, limit },
  run: Effect.fnUntraced(function* (flags) {
    const { list } = yield* Audit.make
    const deeds = yield* list(flags.limit)
    if (flags.json) return yield* Console.log(compact({ ok: true, deeds }))
    for (const { at, subject, what, who, why } of deeds)
      yield* Console.log([at, who, what, subject, why].map(isolated).join("  "))
  }),
})

const messages = command("messages", {
  description:
    "Every warning and error in the log of a server, with its level and what to do. It needs no database. Names between asterisks are sections of docs/operating.md.",
  summary: "Warnings and errors in the log, and what to do",
  examples: [["spirit-altar admin messages", "All of them"]],
  flags: { json: common.json },
  run: ({ json }) => {
    const { Error, Fatal, Warn } = known
    const lines = Object.entries({ Fatal, Error, Warn }).flatMap(([level, actions]) =>
      Object.entries(actions).map(([message, action]) => `${level.padEnd(5)}  ${message}: ${action}`),
    )
    return Console.log(json ? JSON.stringify({ ok: true, messages: { Fatal, Error, Warn } }) : lines.join("\n"))
  },
})

export const admin = Command.make("admin").pipe(
  Command.withDescription(
    "Show and change data in the database of DATABASE_URL. Every change is recorded with operator, time and reason",
  ),
  Command.withSubcommands([attempts, attempt, ...changes, refunded, audit, messages, receiptKey]),
)
