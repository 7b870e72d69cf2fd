/** Re-hashes the revealed words of stones, candles and lights, and detects words that differ from the sealed ones. */
import { Effect, Schema } from "effect"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { checkReveal } from "../../buyer/core/Commitment.ts"
import * as Download from "./Download.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

const Act = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  record: Schema.Struct({
    sequence: Schema.optionalKey(Schema.Int),
    commitment: Schema.optionalKey(Schema.String),
    intentionCommitment: Schema.optionalKey(Schema.NullOr(Schema.String)),
  }),
  reveal: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({ text: Schema.NullOr(Schema.String), salt: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
    ),
  ),
})

const Page = Schema.Struct({ acts: Schema.Array(Act), next: Schema.NullOr(Schema.String) })

/** Acts on a page; a page of the longest reveals still fits the download limit. */
const pageSize = 20

const broken = (where: string, why: string) => new CheckFailed({ message: plain(`BROKEN at ${where}: ${why}`) })

/** A revealed stone, to be confirmed by the walk of the chain. */
export interface RevealedStone {
  readonly sequence: number
  readonly commitment: string
}

/**
 * Walks all acts and hashes their revealed words; fails with the first act whose words do not match. Returns the stones
 * among them, whose commitments the chain must confirm.
 */
export const verifyReveals = Effect.fn("verifyReveals")(function* (base: string) {
  const stones = new Map<string, RevealedStone>()
  const walked = new Set<string>()
  let [checked, hidden] = [0, 0]
  let next: string | null = ""

  const judge = Effect.fnUntraced(function* ({ act, id, record, reveal }: typeof Act.Type) {
    if (reveal === undefined) {
      return yield* new CommandFailure({
        message: `${base} does not publish reveals with its acts, so its revealed words cannot be checked: it runs a version before 0.16.`,
      })
    }
    if (reveal === null) return
    const { commitment, intentionCommitment, sequence } = record
    const isStone = act === setWitnessStone.identifier && sequence !== undefined && commitment !== undefined
    const where = isStone ? `stone ${sequence}` : `${base}/acts/${id}`
    const fault = yield* Effect.promise(() => checkReveal(commitment ?? intentionCommitment ?? null, reveal))
    if (fault !== undefined) return yield* broken(where, `it ${fault.summary}.`)
    if (isStone) stones.set(id, { sequence, commitment })
    if (reveal.text === null) hidden += 1
    else checked += 1
  })

  while (next !== null) {
    const before: string = next === "" ? "" : `&before=${next}`
    const address = `${base}/api/acts?limit=${pageSize}${before}`
    const page: typeof Page.Type = yield* Download.json(address, Page).pipe(
      Effect.catchIf(
        (error) => "refusal" in error && error.refusal?.code === "reveal_broken",
        (error) => Effect.fail("refusal" in error ? broken(address, error.refusal?.message ?? "") : error),
      ),
    )
    for (const act of page.acts) yield* judge(act)
    walked.add(next)
    next = page.next
    if (next !== null && walked.has(next)) {
      return yield* broken(address, "its list of acts leads back to where it was, so it would never end.")
    }
  }
  return { checked, hidden, stones }
})
