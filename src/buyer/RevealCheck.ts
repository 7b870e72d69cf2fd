/** Checks the revealed words in an answer; the library returns only words that match their commitment. */
import { Effect } from "effect"
import { refuse } from "./PurchaseError.ts"
import { type Revealed, verifyReveal } from "./Verify.ts"

interface RevealAnswer {
  readonly id: string
  readonly commitment: string | null
  readonly revealed: Revealed | null
}

const check = Effect.fnUntraced(function* ({ commitment, id, revealed }: RevealAnswer) {
  const verdict = yield* Effect.promise(() => verifyReveal(commitment, revealed))
  if (!verdict.ok)
    return yield* refuse(
      "reveal_broken",
      `The altar shows other words under ${id} than were sealed: ${verdict.reason}. Do not rely on them.`,
    )
})

/** Checks the unsealed words of a candle, if it shows any. */
export const checkUnsealed = (candle: {
  readonly id: string
  readonly intentionCommitment: string | null
  readonly unsealed: Revealed | null
}) => check({ id: candle.id, commitment: candle.intentionCommitment, revealed: candle.unsealed })

/** Checks that the answer to a reveal is about the commitment of these words, and shows no others. */
export const checkRevealAnswer = (
  { salt, words }: { readonly salt: string; readonly words: string },
  answer: RevealAnswer,
) => Effect.andThen(check({ ...answer, revealed: { salt, words } }), check(answer))
