/** `admin refund`: lists payments that may need a refund, and refunds them from the wallet that was paid. */
import { Console, Effect, Option } from "effect"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { Administration } from "../../admin/Administration.ts"
import { type NewRefund, Refunds, type Returnable } from "../../payments/ledger/Refunds.ts"
import { settlementCall } from "../../payments/x402/verification/Eip3009.ts"
import { helpOf, refunds as variables } from "../../server/config/Table.ts"
import { command, type FlagValues, on, optionalText } from "../Define.ts"
import { common, dollars } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { database, limit, run } from "./AdminDatabase.ts"
import { age } from "./Attempts.ts"
import { byOf, isId } from "./Changes.ts"
import { signing } from "./RefundSigning.ts"

const why: Readonly<Record<Returnable["reason"], string>> = {
  unmatched: "it belongs to no purchase",
  failed: "its attempt had failed",
  lost: "the block of its payment was orphaned; its act stands",
  settled: "its act stands",
}

const standing = "Its act was delivered, so nothing is owed."
const byChoice = "--attempt refunds it by choice."

const adviceOf = ({ isClaimable, network, reason, refund, validBefore }: Returnable): string => {
  if (network === "card") return "Refund it at the card processor."
  if (refund?.state === "REFUND_PENDING") return "A refund is in flight."
  if (isClaimable) return `Its buyer can still claim it, until ${new Date(Number(validBefore) * 1000).toISOString()}.`
  const before = refund?.state === "REFUND_FAILED" ? "The last refund failed. " : ""
  return `${before}${reason === "lost" ? `${standing} If it was paid after all, ${byChoice}` : "It can be refunded."}`
}

const told = (one: Returnable) =>
  [
    `${one.transaction}  ${priceUsd(BigInt(one.amountAtomic))}`,
    `  from      ${one.payer === "" ? "a card" : one.payer}, ${age(one.ageSeconds)} ago`,
    ...(one.attempt === null ? [] : [`  attempt   ${one.attempt}`]),
    `  why       ${why[one.reason]}`,
    ...(one.refund === null
      ? []
      : [
          `  refund    ${one.refund.state} ${one.refund.refundTransaction ?? ""} ${one.refund.finality ?? ""}`.trimEnd(),
        ]),
    `  to do     ${adviceOf(one)}`,
  ]
    .map(plain)
    .join("\n")

const jsonOf = (one: Returnable) => ({
  ...one,
  fromBlock: one.fromBlock.toString(),
  amountAtomic: one.amountAtomic.toString(),
  validBefore: one.validBefore.toString(),
  toDo: adviceOf(one),
})

const flags = {
  json: common.json,
  limit,
  attempt: optionalText("attempt", "Id of the act or of the failed attempt to refund", "id"),
  payment: optionalText("payment", "Transaction or nonce of the payment to refund", "hash"),
  all: on("all", "Refund every listed payment that bought nothing and can be refunded now"),
  amount: dollars("amount", "Refund this part of the payment alone; the rest can never be refunded here"),
  keyFile: optionalText(
    "key-file",
    `File with the private key of the wallet that was paid (else ${variables.key.name})`,
    "file",
  ),
  unsigned: optionalText(
    "unsigned",
    "Sign nothing: write the transfer here as EIP-712 typed data, for the wallet that was paid",
    "file",
  ),
  signed: optionalText("signed", "The file that --unsigned wrote, once it is signed", "file"),
  signature: optionalText("signature", "The signature of --signed: of a key, or of a contract (EIP-1271)", "hex"),
  why: optionalText("why", "Reason, for the audit alone"),
  by: optionalText("by", "Operator, for the audit, beside this machine's account"),
}

type Asked = FlagValues<typeof flags>

/** The payments to refund, or without a choice all that are listed. */
const chosen = Effect.fnUntraced(function* ({ all, amount, attempt, limit: rows, payment }: Asked) {
  const refunds = yield* Refunds
  if (all && Option.isSome(amount))
    return yield* new CommandFailure({
      message: "--amount is a part of one payment, whose rest can never be refunded. Nothing was recorded.",
    })
  const by = Option.isSome(attempt)
    ? { attempt: attempt.value }
    : Option.isSome(payment)
      ? { payment: payment.value }
      : undefined
  if (by === undefined) return yield* refunds.due(rows)
  if (all || (Option.isSome(attempt) && Option.isSome(payment)))
    return yield* new CommandFailure({
      message: "Name one payment, by --attempt or --payment, or --all. Nothing was recorded.",
    })
  if (Option.isSome(attempt) && !isId(attempt.value))
    return yield* new CommandFailure({
      message: `${plain(attempt.value)} is no id of an attempt. Nothing was recorded.`,
    })
  const found = yield* refunds.find(by, 10)
  if (found.length === 1) return found
  return yield* new CommandFailure({
    message:
      found.length === 0
        ? "No ended payment matches. An attempt in flight ends without help, and a failed one has nothing to refund until its transfer is found. Nothing was recorded."
        : "This transaction made several payments: name one by --attempt, or by its nonce. Nothing was recorded.",
  })
})

const list = (json: boolean, found: ReadonlyArray<Returnable>) =>
  json
    ? Console.log(JSON.stringify({ ok: true, payments: found.map(jsonOf) }))
    : Console.log(found.length === 0 ? "No payment needs a refund." : found.map(told).join("\n\n"))

const intended = ({ payment: { authorization }, returned }: NewRefund) => ({
  transaction: returned.transaction,
  attempt: returned.attempt,
  payer: authorization.to,
  payTo: authorization.from,
  amountAtomic: authorization.value.toString(),
  nonce: authorization.nonce,
  validBefore: authorization.validBefore.toString(),
  /** The same transfer for any wallet to send, should the server not. Sent twice, it pays once. */
  call: settlementCall(authorization),
})

export const refund = command("refund", {
  description: `List payments that may need a refund: unmatched ones, those of failed attempts, and those of lost acts; or refund them. A refund is recorded here before anything is sent, and a running server sends it and finds its outcome. A payment is refunded once, from the wallet that was paid, to the wallet that paid. ${database}\n${helpOf([variables.key])}`,
  summary: "List and refund payments",
  examples: [
    ["spirit-altar admin refund", "Payments that may need a refund"],
    ['spirit-altar admin refund --payment 0x… --key-file wallet.key --why "bought nothing"', "Refund one"],
    ['spirit-altar admin refund --all --key-file wallet.key --why "bought nothing"', "Refund all that are possible"],
    [
      "spirit-altar admin refund --payment 0x… --unsigned refund.json",
      "Prepare a file for a hardware or multi-signature wallet",
    ],
    ['spirit-altar admin refund --payment 0x… --signed refund.json --signature 0x… --why "bought nothing"', "Send it"],
  ],
  flags: { own: flags },
  run: ({ own }) =>
    run(
      own,
      Effect.gen(function* () {
        const found = yield* chosen(own)
        const isOne = Option.isSome(own.attempt) || Option.isSome(own.payment)
        if (!isOne && found.length === own.limit)
          yield* Console.error(`Only the first ${own.limit} payments are read: raise --limit.`)
        if (!isOne && !own.all) return yield* list(own.json, found)
        const administration = yield* Administration
        const sign = yield* signing(own, isOne)
        const refunded: Array<ReturnType<typeof intended>> = []
        const refused: Array<{ readonly transaction: string; readonly message: string }> = []
        const say = (line: string) => (own.json ? Effect.void : Console.log(line))
        const refuse = ({ transaction }: Returnable, message: string) => {
          refused.push({ transaction, message })
          return say(`${transaction}  ${message}`)
        }
        for (const returned of found) {
          if (!isOne && returned.reason === "lost") {
            yield* refuse(returned, `${standing} ${byChoice} Nothing was recorded.`)
            continue
          }
          const done = sign(returned).pipe(
            Effect.tap((made) =>
              Option.isNone(made)
                ? Effect.void
                : Effect.flatMap(byOf({ ...own, why: Option.getOrElse(own.why, () => "") }), (by) =>
                    administration.refund(made.value, by),
                  ),
            ),
          )
          const made = yield* isOne
            ? done
            : Effect.catchTag(done, "RefundRefused", ({ message }) =>
                Effect.as(refuse(returned, message), Option.none<NewRefund>()),
              )
          if (Option.isNone(made)) continue
          const one = intended(made.value)
          refunded.push(one)
          yield* say(
            `${one.transaction}  recorded: a running server sends ${one.amountAtomic} atomic USDC to ${one.payer}. spirit-altar admin refund shows it until it is refunded.`,
          )
        }
        if (own.json) return yield* Console.log(JSON.stringify({ ok: true, refunds: refunded, refused }))
        if (own.all && found.length > 0) {
          const sum = refunded.reduce((total, { amountAtomic }) => total + BigInt(amountAtomic), 0n)
          yield* Console.log(`Recorded ${refunded.length} of ${found.length} refunds: ${sum} atomic USDC in all.`)
        }
        if (found.length === 0) yield* Console.log("No payment needs a refund.")
      }),
    ),
})
