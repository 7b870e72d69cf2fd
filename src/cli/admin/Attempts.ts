/** `admin attempts` and `admin attempt`: purchases with their evidence, and what the operator has to do. */
import { Console, Effect } from "effect"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { Refunds, type Returnable } from "../../payments/store/Refunds.ts"
import { inspect, type InspectedAttempt, unresolved } from "../../payments/store/Lookup.ts"
import { word } from "../Define.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { type DatabaseFlags, limit, onDatabase } from "../Database.ts"

const { json } = common

const age = (seconds: number) =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`

const evidenceOf = (attempt: InspectedAttempt): string =>
  [
    attempt.transaction === null ? undefined : `transaction ${attempt.transaction}`,
    attempt.broadcast === null
      ? undefined
      : `our relayer sent ${attempt.broadcast} (nonce ${attempt.broadcastNonce}) at ${attempt.broadcastAt}`,
    attempt.refusal === null ? undefined : `the facilitator refused it: ${attempt.refusal}`,
    attempt.doubtedReason === null ? undefined : `one inquiry found ${attempt.doubtedReason}; a second must agree`,
    attempt.reason === null ? undefined : `ended as ${attempt.reason}`,
  ]
    .filter((part) => part !== undefined)
    .join("; ") || "nothing was found on the chain yet"

/** Only evidence ends an attempt: an operator can only make sure that the evidence can be found. */
const adviceOf = ({ checks, finality, isPayable, rail, state, validBefore }: InspectedAttempt): string => {
  if (finality === "lost")
    return "Its block was orphaned for good. Deliver or refund, then acknowledge it: docs/operating.md, A lost payment."
  if (state !== "pending") return "It has ended; nothing remains to do."
  if (rail === "card") return "Check that the card processor answers; the server asks it again."
  const until = new Date(Number(validBefore) * 1000)
  return isPayable
    ? `It can still be paid${Number.isNaN(until.getTime()) ? "" : ` until ${until.toISOString()}`}; wait, and check that RPC_URL answers.`
    : checks > 20
      ? "It expired without a proven outcome. RPC_URL may be stale or lack logs or the final block: run spirit-altar serve --check."
      : "It expired; it ends once a final block proves it."
}

const told = (attempt: InspectedAttempt) =>
  [
    `${attempt.id}  ${attempt.state}${attempt.finality === "lost" ? ", lost" : ""}`,
    `  key       ${attempt.idempotencyKey}`,
    `  bought    ${attempt.act} for ${priceUsd(BigInt(attempt.amountAtomic))} by ${attempt.payer ?? "a card"}, ${age(attempt.ageSeconds)} ago`,
    `  evidence  ${evidenceOf(attempt)}`,
    ...(attempt.state === "pending" ? [`  next inquiry ${attempt.nextCheckAt}, after ${attempt.checks} so far`] : []),
    `  to do     ${adviceOf(attempt)}`,
  ]
    .map(plain)
    .join("\n")

const tell = (flags: DatabaseFlags, attempts: ReadonlyArray<InspectedAttempt>, none: string, more: object = {}) =>
  flags.json
    ? Console.log(
        JSON.stringify({
          ok: true,
          attempts: attempts.map((one) => ({ ...one, evidence: evidenceOf(one), toDo: adviceOf(one) })),
          ...more,
        }),
      )
    : Console.log(attempts.length === 0 ? none : attempts.map(told).join("\n\n"))

const refundAdvice = ({ attempt, claimableUntil, network, transaction }: Returnable): string => {
  if (network === null) return "Deliver, or refund it at the card processor."
  if (claimableUntil !== null)
    return `Its buyer can still buy with it, until ${new Date(claimableUntil * 1000).toISOString()}.`
  return `Deliver, or return it from any wallet and run: spirit-altar admin refunded ${attempt ?? transaction} TRANSACTION`
}

const toldUnmatched = (one: Returnable) =>
  [
    `${one.transaction}  unmatched payment of ${priceUsd(one.amountAtomic)}`,
    ...(one.attempt === null ? [] : [`  attempt   ${one.attempt}, which had failed`]),
    `  from      ${one.payer ?? "a card"}`,
    `  to do     ${refundAdvice(one)}`,
  ]
    .map(plain)
    .join("\n")

const unmatchedJson = ({ amountAtomic, refund: _, ...one }: Returnable) => ({
  ...one,
  amountAtomic: amountAtomic.toString(),
  toDo: refundAdvice({ ...one, amountAtomic, refund: null }),
})

export const attempts = onDatabase("attempts", {
  description: `List purchases with an unknown outcome and payments that bought nothing, oldest first: age, evidence, next inquiry and possible actions. Evidence alone ends a purchase, no command does.`,
  summary: "Purchases with an unknown outcome, and unmatched payments",
  examples: [["spirit-altar admin attempts", "What is open"]],
  flags: { json, limit },
  run: Effect.fnUntraced(function* (flags) {
    const unmatched = yield* (yield* Refunds).due(flags.limit)
    const open = yield* unresolved(flags.limit)
    yield* tell(flags, open, "Every attempt has ended.", { unmatched: unmatched.map(unmatchedJson) })
    if (!flags.json && unmatched.length > 0) yield* Console.log(`\n${unmatched.map(toldUnmatched).join("\n\n")}`)
  }),
})

export const attempt = onDatabase("attempt", {
  description: `Show the state of a purchase.`,
  summary: "State of a purchase",
  examples: [["spirit-altar admin attempt 0x…", "By wallet or transaction"]],
  flags: { what: word("what", "An idempotency key, an id, a transaction hash, or a wallet"), json, limit },
  run: Effect.fnUntraced(function* (flags) {
    const found = yield* inspect(flags.what, flags.limit)
    if (found.length > 0) return yield* tell(flags, found, "")
    return yield* new CommandFailure({
      message: `No attempt has the key, id, transaction or wallet ${plain(flags.what)}.`,
    })
  }),
})
