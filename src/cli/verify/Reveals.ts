/** Hashes the revealed words of stones, candles and lights, and detects words that differ from the sealed ones. */
import { Effect, Schema } from "effect"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { checkReveal } from "../../buyer/core/Commitment.ts"
import * as Download from "./Download.ts"
import { broken } from "../CommandFailure.ts"

const Act = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  record: Schema.Struct({
    sequence: Schema.optionalKey(Schema.Int),
    commitment: Schema.optionalKey(Schema.String),
    intentionCommitment: Schema.optionalKey(Schema.NullOr(Schema.String)),
  }),
  reveal: Schema.NullOr(
    Schema.Struct({ text: Schema.NullOr(Schema.String), salt: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
  ),
  receipt: Schema.optionalKey(
    Schema.Struct({
      payer: Schema.NullOr(Schema.String),
      transaction: Schema.NullOr(Schema.String),
      currentTransaction: Schema.optionalKey(Schema.String),
    }),
  ),
})

/** A stone whose words are revealed, shown or hidden. */
export interface RevealedStone {
  readonly sequence: number
  readonly commitment: string
  readonly isHidden: boolean
}

const Page = Schema.Struct({ acts: Schema.Array(Act), next: Schema.NullOr(Schema.String) })

/** Acts on a page; a page of the longest reveals still fits the download limit. */
const pageSize = 20

/**
 * Hashes the revealed words of all acts; fails with the first act whose words do not match. Returns the stones among
 * them, whose commitments the chain must confirm, and the transactions in which each wallet paid.
 */
export const verifyReveals = Effect.fn("verifyReveals")(function* (base: string) {
  const revealed = new Map<string, RevealedStone>()
  const paidBy = new Map<string, Array<string>>()
  const walked = new Set<string>()
  const reveals = { checked: 0, hidden: 0 }

  const judge = Effect.fnUntraced(function* ({ act, id, receipt, record, reveal }: typeof Act.Type) {
    const payer = receipt?.payer?.toLowerCase()
    const transaction = receipt?.currentTransaction ?? receipt?.transaction
    if (payer !== undefined && transaction != null) {
      const paid = paidBy.get(payer) ?? []
      paid.push(transaction)
      paidBy.set(payer, paid)
    }
    if (reveal === null) return
    const { commitment, intentionCommitment, sequence } = record
    const isStone = act === setWitnessStone.identifier && sequence !== undefined && commitment !== undefined
    const fault = yield* Effect.promise(() => checkReveal(commitment ?? intentionCommitment ?? null, reveal))
    if (fault !== undefined)
      return yield* broken(isStone ? `stone ${sequence}` : `${base}/acts/${id}`, `it ${fault.summary}.`)
    if (isStone) revealed.set(id, { sequence, commitment, isHidden: reveal.text === null })
    reveals[reveal.text === null ? "hidden" : "checked"] += 1
  })

  for (let before: string | null = ""; before !== null;) {
    const address: string = `${base}/api/acts?limit=${pageSize}${before}`
    const { acts, next }: typeof Page.Type = yield* Download.json(address, Page)
    yield* Effect.forEach(acts, judge, { discard: true })
    walked.add(before)
    before = next === null ? null : `&before=${next}`
    if (before !== null && walked.has(before))
      return yield* broken(address, "its list of acts leads back to where it was, so it would never end.")
  }
  return { reveals, revealed, paidBy }
})
