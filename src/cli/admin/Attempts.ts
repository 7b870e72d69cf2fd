/** `admin attempts` and `admin attempt`: purchases with their evidence, and what the operator has to do. */
import { Effect } from "effect"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { Refunds, type Returnable } from "../../payments/store/Refunds.ts"
import { inspect, type InspectedAttempt, unresolved } from "../../payments/store/Lookup.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { most, onDatabase } from "../Database.ts"
import { word } from "../Define.ts"
import { age, plain, print } from "../Output.ts"

const evidenceOf = (attempt: InspectedAttempt): string =>
  [
    attempt.transaction !== null && `transaction ${attempt.transaction}`,
    attempt.broadcast !== null &&
      `our relayer sent ${attempt.broadcast} (nonce ${attempt.broadcastNonce}) at ${attempt.broadcastAt}`,
    attempt.doubtedReason !== null && `one inquiry found ${attempt.doubtedReason}; a second must agree`,
    attempt.reason !== null && `ended as ${attempt.reason}`,
  ]
    .filter((part) => part !== false)
    .join("; ") || "nothing was found on the chain yet"

/** Seconds after which no healthy node leaves an attempt open. */
const day = 86_400

/** Only evidence ends an attempt: an operator can only make sure that the evidence can be found. */
const adviceOf = (attempt: InspectedAttempt): string => {
  const { ageSeconds, checks, finality, id, isPayable, state, validBefore } = attempt
  if (finality === "lost")
    return `Its block was orphaned for good: the buyer has the act and paid nothing. Run: spirit-altar admin acknowledge ${id} --why TEXT`
  if (state !== "pending") return "It has ended; nothing remains to do."
  // Only a card's payment does not expire.
  if (validBefore === null)
    return "Check that the card processor answers, and that CARD_PROFILE_ID and CARD_SECRET_KEY are set; the server asks it again."
  if (ageSeconds > day)
    return "It is open for more than a day and still holds what it was to buy. RPC_URL does not answer, cannot show how its authorization was used, or is of another network than X402_NETWORK was. Set it to an archive node that has all logs and receipts, and restart: the next two inquiries end it. If they do not, report it."
  const until = new Date(Number(validBefore) * 1000)
  return isPayable
    ? `It can still be paid${Number.isNaN(until.getTime()) ? "" : ` until ${until.toISOString()}`}; wait, and check that RPC_URL answers.`
    : checks > 20
      ? "It expired without a proven outcome. RPC_URL may be stale or lack logs or the final block: run spirit-altar serve --check."
      : "It expired; it ends once a final block proves it."
}

/** A title, and a line for each row that has a value. */
const block = (title: string, rows: Readonly<Record<string, string | false>>) =>
  [title, ...Object.entries(rows).flatMap(([name, says]) => (says === false ? [] : [`  ${name.padEnd(9)} ${says}`]))]
    .map(plain)
    .join("\n")

const textOf = (attempt: InspectedAttempt) =>
  block(`${attempt.id}  ${attempt.state}${attempt.finality === "lost" ? ", lost" : ""}`, {
    key: attempt.idempotencyKey,
    bought: `${attempt.act} for ${priceUsd(BigInt(attempt.amountAtomic))} by ${attempt.payer ?? "a card"}, ${age(attempt.ageSeconds)} ago`,
    evidence: evidenceOf(attempt),
    "next inquiry": attempt.state === "pending" && `${attempt.nextCheckAt}, after ${attempt.checks} so far`,
    "to do": adviceOf(attempt),
  })

const documentOf = (attempt: InspectedAttempt) => ({
  ...attempt,
  evidence: evidenceOf(attempt),
  toDo: adviceOf(attempt),
})

const refundAdvice = ({ attempt, claimableUntil, network, transaction }: Returnable): string => {
  if (network === null) return "Deliver, or refund it at the card processor."
  if (claimableUntil !== null)
    return `Its buyer can still buy with it, until ${new Date(claimableUntil * 1000).toISOString()}.`
  return `Deliver, or return it from any wallet and run: spirit-altar admin refunded ${attempt ?? transaction} TRANSACTION`
}

const refundText = (payment: Returnable) =>
  block(`${payment.transaction}  unmatched payment of ${priceUsd(payment.amountAtomic)}`, {
    attempt: payment.attempt !== null && `${payment.attempt}, which had failed`,
    from: payment.payer ?? "a card",
    "to do": refundAdvice(payment),
  })

export const attempts = onDatabase("attempts", {
  description: `List purchases with an unknown outcome and payments that bought nothing. The oldest ${most} of each come first, with age, evidence, next inquiry and possible actions. Evidence alone ends a purchase, no command does.`,
  examples: { "spirit-altar admin attempts": "What is open" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    const unmatched = yield* (yield* Refunds).due(most)
    const open = yield* unresolved(most)
    yield* print(
      {
        ok: true,
        attempts: open.map(documentOf),
        unmatched: unmatched.map((row) => ({ ...row, amountAtomic: `${row.amountAtomic}`, toDo: refundAdvice(row) })),
      },
      [...(open.length === 0 ? ["Every attempt has ended."] : open.map(textOf)), ...unmatched.map(refundText)].join(
        "\n\n",
      ),
    )
  }),
})

export const attempt = onDatabase("attempt", {
  description: `Show the state of a purchase, or of the newest ${most} of a wallet.`,
  examples: { "spirit-altar admin attempt 0x…": "By wallet or transaction" },
  flags: { what: word("what", "An idempotency key, an id, a transaction hash, or a wallet") },
  run: Effect.fnUntraced(function* ({ what }) {
    const attempts = yield* inspect(what, most)
    if (attempts.length === 0)
      return yield* new CommandFailure({
        message: `No attempt has the key, id, transaction or wallet ${plain(what)}.`,
      })
    yield* print({ ok: true, attempts: attempts.map(documentOf) }, attempts.map(textOf).join("\n\n"))
  }),
})
