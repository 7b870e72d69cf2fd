/** The promises of an inquiry about a pending attempt, as pure functions. */
import {
  type Altar,
  apartMillis,
  type Attempt,
  type ExpectedAnswer,
  failed,
  pending,
  priceOf,
  type Truth,
} from "./AltarModel.ts"
import * as CardModel from "./CardModel.ts"

/** The finding of an inquiry about a pending attempt; `after` is the chain once it was looked at, since a look may send it again. */
const findingOf = (
  altar: Altar,
  attempt: Attempt,
  before: Truth,
): "paid" | "open" | "nothing" | { readonly reason: string } => {
  const { fault } = altar
  const end = before.ends.get(attempt.authorization)
  const signed = altar.authorizations[attempt.authorization]
  if (fault === "the node is silent" || signed?.rail !== "x402") return "nothing"
  if (end === undefined) {
    if (before.final.time >= signed.validBefore) return { reason: "authorization_expired" }
    const reverts = before.balances[signed.wallet] < priceOf(attempt.order) && before.newest.time < signed.validBefore
    return attempt.isRefused && reverts ? { reason: "insufficient_funds" } : "open"
  }
  if (fault === "receipts are withheld") return "open"
  if (end.how === "paid") return "paid"
  return end.block <= before.final.number ? { reason: "authorization_canceled" } : "open"
}

/** The possible results of an inquiry: the attempt as it is afterwards, and what its caller is told. */
export const inquired = (
  altar: Altar,
  attempt: Attempt,
  before: Truth,
  after: Truth,
  now: number,
): ReadonlyArray<readonly [ExpectedAnswer, Attempt]> => {
  if (attempt.charge !== undefined) return [lookedAtCard(altar, { ...attempt, charge: attempt.charge }, now)]
  const found = findingOf(altar, attempt, before)
  const settled: readonly [ExpectedAnswer, Attempt] = [
    "200",
    { ...attempt, state: "settled", settledAt: now, doubt: undefined },
  ]
  if (found === "paid") return [settled]
  if (found === "nothing") return [[pending, attempt]]
  if (found === "open") {
    const open: readonly [ExpectedAnswer, Attempt] = [pending, { ...attempt, doubt: undefined }]
    const isPaidSince =
      before.ends.get(attempt.authorization) === undefined && after.ends.get(attempt.authorization)?.how === "paid"
    return isPaidSince ? [settled, open] : [open]
  }
  return [doubted(attempt, found.reason, now)]
}

/** Two looks that are apart have to agree. */
const doubted = (attempt: Attempt, reason: string, now: number): readonly [ExpectedAnswer, Attempt] => {
  const doubt = attempt.doubt?.reason === reason ? attempt.doubt : { reason, at: now }
  return now - doubt.at >= apartMillis
    ? [failed, { ...attempt, state: "failed", doubt: undefined }]
    : [pending, { ...attempt, doubt }]
}

const lookedAtCard = (
  altar: Altar,
  attempt: Attempt & { readonly charge: CardModel.Charge },
  now: number,
): readonly [ExpectedAnswer, Attempt] => {
  const [found, charge] = CardModel.inquired(attempt.charge, altar.bankFault, now - attempt.acceptedAt)
  const after = { ...attempt, charge }
  if (found === "none") return doubted(after, "card_never_charged", now)
  const ended = { ...after, doubt: undefined }
  if (found === "open") return [pending, ended]
  return found === "paid"
    ? ["200", { ...ended, state: "settled", settledAt: now }]
    : [failed, { ...ended, state: "failed" }]
}
