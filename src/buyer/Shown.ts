/** Revealed words in an answer: the library hands on none that are not what was sealed. */
import { Effect } from "effect"
import { refuse } from "./PurchaseError.ts"
import { type Revealed, verifyReveal } from "./Verify.ts"

interface Shown {
  readonly id: string
  readonly commitment: string | null
  readonly revealed: Revealed | null
}

const check = Effect.fnUntraced(function* ({ commitment, id, revealed }: Shown) {
  const verdict = yield* Effect.promise(() => verifyReveal(commitment, revealed))
  if (!verdict.ok)
    return yield* refuse(
      "reveal_broken",
      `The altar shows other words under ${id} than were sealed: ${verdict.reason}. Do not rely on them.`,
    )
})

/** Of a candle that is read: its unsealed words, if it shows any. */
export const isAsSealed = (candle: {
  readonly id: string
  readonly intentionCommitment: string | null
  readonly unsealed: Revealed | null
}) => check({ id: candle.id, commitment: candle.intentionCommitment, revealed: candle.unsealed })

/** Of words that were just revealed: the answer is about what they were sealed into, and shows no others. */
export const isShownAs = ({ salt, words }: { readonly salt: string; readonly words: string }, answer: Shown) =>
  Effect.andThen(check({ ...answer, revealed: { salt, words } }), check(answer))
