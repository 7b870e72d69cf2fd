/** The answers that all paid acts share: settled, replayed or pending. */
import { Schema } from "effect"
import { sentence, patterned } from "../Fields.ts"
import { AtomicAmount, Network, Timestamp, Url, Uuid } from "../Common.ts"
import { AnyReceipt, IdempotencyKey, Receipt } from "./Payment.ts"
import { at, envelope } from "../Refusal.ts"

export const ActName = patterned(/^[a-z][A-Za-z]{1,40}$/u, 41, 2).annotate({
  identifier: "ActName",
  description: "The kind of act.",
  examples: ["setWitnessStone"],
})

const settledBy = <S extends Schema.Top, R extends Schema.Top>(record: S, receipt: R) =>
  Schema.Struct({
    ok: Schema.Literal(true),
    record,
    receipt,
    permalink: Url,
    replayed: Schema.Boolean.annotate({
      description: "False in the first answer, true in every replay.",
      examples: [false],
    }),
  })

/** The body of a paid act's 201 and 200, with the given record. */
export const settledAct = <S extends Schema.Top>(record: S) => settledBy(record, Receipt)

/** The same for an act that may be paid by card. */
export const settledByAnyRail = <S extends Schema.Top>(record: S) => settledBy(record, AnyReceipt)

export const Attempt = Schema.Struct({
  id: Uuid,
  act: ActName,
  idempotencyKey: IdempotencyKey,
  url: Url,
  amountAtomic: AtomicAmount,
  network: Schema.NullOr(Network).annotateKey({ description: "The network of the payment; null for a card." }),
  acceptedAt: Timestamp,
  validBefore: Schema.NullOr(Timestamp).annotateKey({
    description: "When the signed authorization expires, and the outcome can be proven. Null for a card.",
  }),
}).annotate({ identifier: "Attempt", description: "A paid request with an unknown outcome." })

/** The body of a 202: the outcome is unknown. It is not an error, and never a reason to pay again. */
export const SettlementPending = Schema.Struct({
  ok: Schema.Literal(true),
  code: Schema.Literal("settlement_pending"),
  message: sentence("The outcome of your payment is unknown. Do not pay again: POST the reconcile URL."),
  reconcile: Url,
  attempt: Attempt,
}).annotate({
  identifier: "SettlementPending",
  description:
    "The outcome of the payment is unknown. Do not pay again: POST the reconcile URL until the payment ends.",
})
export type SettlementPending = typeof SettlementPending.Type

export class ActNotFound extends Schema.Error<ActNotFound>("ActNotFound")(
  envelope("act_not_found", "No settled act has this id.", "Check the id, or take one that /api/acts lists."),
  at(404, "No such act."),
) {}
