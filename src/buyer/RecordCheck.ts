/** Compares a settled answer with its purchase; a different answer stays in the journal as evidence. */
import { Effect, Schema } from "effect"
import type { Settlement } from "./core/Outcome.ts"
import { type Bought, differencesOf, misrecorded } from "./core/Recorded.ts"
import { Misrecorded } from "./PurchaseError.ts"
import type { Purchase, Purchases } from "./Purchases.ts"

/** Fails and stores the evidence when the altar recorded something else than this purchase. */
export const checkRecord = Effect.fn("RecordCheck.checkRecord")(function* (
  purchases: Pick<Purchases, "misrecord">,
  purchase: Purchase,
  bought: Bought,
  { body, header }: Settlement,
) {
  const { key } = purchase
  const differences = yield* Effect.promise(() => differencesOf(bought, { body, header }))
  if (differences.length === 0) return
  const [answer, response] = yield* Effect.orDie(
    Schema.decodeUnknownEffect(Schema.Tuple([Schema.Json, Schema.Json]))([body, header ?? null]),
  )
  const kept = yield* purchases.misrecord(purchase, { differences, answer, response }).pipe(
    Effect.as("This journal keeps your signed payment and the altar's answer."),
    Effect.catch(({ message }) => Effect.succeed(message)),
  )
  return yield* new Misrecorded({ key, differences, message: misrecorded(differences, kept) })
})
