/** Witness stones: the act that sets one, the reads of stones, and their one free reveal. */
import { Context, Effect, Layer, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { type ChainLink, chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { type CommitmentMismatch, CommitmentRefused, zeroCommitment } from "../../../schema/altar/Commitment.ts"
import {
  type AlreadyRevealed,
  type ChainHead,
  dailyCeiling,
  type ListedStone,
  type RevealAnswer,
  type RevealBody,
  setWitnessStone,
  WitnessCeilingToday,
  type WitnessNotFound,
  type WitnessNotSettled,
  WitnessStone,
} from "../../../schema/altar/Witness.ts"
import type { BadRequest } from "../../../schema/Errors.ts"
import { type ActOf, paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { encoderOf } from "../Answers.ts"
import type { ChainBroken } from "../HashChain.ts"
import { sha256 } from "../Hashes.ts"
import * as Reveal from "./Reveal.ts"
import * as StoneReads from "./StoneReads.ts"
import { newStoneOf, recordOf } from "./StoneRow.ts"
import { WitnessChain } from "./WitnessChain.ts"

type Listed = typeof ListedStone.Type
type Head = typeof ChainHead.Type

/** Stones, newest first, and the start of the next page. */
export interface StonePage {
  readonly ok: true
  readonly stones: ReadonlyArray<Listed>
  readonly head: Head
  readonly next: number | null
}

const encodeStone = encoderOf(WitnessStone)

/** The hash of a stone's leaf in a log of RFC 6962 (§2.1). */
const leafOf = (link: ChainLink) => sha256(`\0${chainLinkText(link)}`)

export class WitnessStones extends Context.Service<
  WitnessStones,
  {
    readonly act: ActOf<typeof setWitnessStone>
    /** Settled stones, newest first, below `before` when given. */
    list(limit: number, before: number | undefined): Effect.Effect<StonePage, ChainBroken | SqlError.SqlError>
    /** Settled stones of a spirit, or with a commitment or chain hash, newest first; each is re-hashed alone. */
    find(
      by: { readonly spirit: string } | { readonly hash: string },
      limit: number,
    ): Effect.Effect<ReadonlyArray<Listed>, ChainBroken | SqlError.SqlError>
    /** A stone, and its receipt with the transfer's current state. */
    get(
      id: string,
    ): Effect.Effect<
      { readonly stone: Listed; readonly receipt: Schema.JsonObject; readonly nonce: string | null },
      WitnessNotFound | ChainBroken | SqlError.SqlError
    >
    /** Stores salt and words that hash to the commitment; `replayed` when the same data was stored before. */
    reveal(
      id: string,
      body: typeof RevealBody.Type,
    ): Effect.Effect<
      typeof RevealAnswer.Type,
      BadRequest | WitnessNotFound | WitnessNotSettled | CommitmentMismatch | AlreadyRevealed | SqlError.SqlError
    >
  }
>()("spirit-altar/altar/witness/WitnessStones") {
  static readonly layer = Layer.effect(
    WitnessStones,
    Effect.gen(function* () {
      const chain = yield* WitnessChain
      const publicUrl = yield* PublicUrl

      const act = paidAct(setWitnessStone, {
        refuse: ({ commitment }) =>
          commitment === zeroCommitment ? Effect.fail(new CommitmentRefused({})) : Effect.void,
        claims: (_, { day }) => ({ slots: [], pool: { name: `witness:${day}`, capacity: dailyCeiling } }),
        conflict: () => new WitnessCeilingToday({}),
        record: Effect.fn("WitnessStones.record")(function* (paid) {
          const stones = yield* chain.append(paid.map(newStoneOf))
          return yield* Effect.forEach(stones, (stone) =>
            Effect.map(encodeStone(recordOf(publicUrl, stone)), (record) => ({
              record: { ...record, verify: { ...record.verify } },
              path: `/witness/${stone.id}`,
              agentName: stone.agentName,
              at: stone.witnessedAt,
              proven: { sequence: stone.sequence, leaf: leafOf(stone) },
            })),
          )
        }),
      })

      const { find, get, list } = yield* StoneReads.make
      const store = yield* Reveal.make(act.name)

      const reveal = Effect.fn("WitnessStones.reveal")(
        function* (id: string, body: typeof RevealBody.Type) {
          const first = yield* store(id, body)
          const { stone } = yield* get(id)
          return { ok: true as const, stone, replayed: !first }
        },
        Effect.catchTag("ChainBroken", Effect.die),
      )

      return WitnessStones.of({ act, list, find, get, reveal })
    }),
  )
}
