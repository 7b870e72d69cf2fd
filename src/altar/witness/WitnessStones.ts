/** Witness stones: the act that sets one, the reads of stones, and their one free reveal. */
import { Context, Effect, Layer } from "effect"
import { type ChainLink, chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { CommitmentRefused } from "../../../schema/altar/Commitment.ts"
import { zeroCommitment } from "../../../schema/altar/Recipe.ts"
import {
  AlreadyRevealed,
  type ChainHead,
  dailyCeiling,
  type ListedStone,
  type RevealBody,
  setWitnessStone,
  WitnessCeilingToday,
  WitnessNotFound,
  WitnessNotSettled,
  WitnessStone,
} from "../../../schema/altar/Witness.ts"
import { paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { encoderOf } from "../Answers.ts"
import { sha256 } from "../Hashes.ts"
import * as Opening from "../Opening.ts"
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

export class WitnessStones extends Context.Service<WitnessStones>()("spirit-altar/altar/witness/WitnessStones", {
  make: Effect.gen(function* () {
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

    const { find, get, list, ofWallet } = yield* StoneReads.make
    const open = yield* Opening.make<WitnessNotFound | WitnessNotSettled | AlreadyRevealed>({
      table: "witness_stones",
      acts: [act.name],
      member: "text",
      unknown: () => new WitnessNotFound({}),
      unsettled: () => new WitnessNotSettled({}),
      // Every stone has a commitment.
      unsealed: () => new WitnessNotFound({}),
      already: () => new AlreadyRevealed({}),
    })

    const reveal = Effect.fn("WitnessStones.reveal")(
      function* (id: string, body: typeof RevealBody.Type) {
        const isFirst = yield* open(id, body)
        const { stone } = yield* get(id)
        return { ok: true as const, stone, replayed: !isFirst }
      },
      Effect.catchTag("ChainBroken", Effect.die),
    )

    return {
      act,
      /** Settled stones, newest first, below `before` when given. */
      list,
      /** Settled stones of a spirit, or with a commitment or chain hash, newest first; each is re-hashed alone. */
      find,
      /** A stone, and its receipt with the transfer's current state. */
      get,
      /** The record of a wallet, whose address is in lower case, with its stones below `before` when given. */
      ofWallet,
      /** Stores salt and words that hash to the commitment; `replayed` when the same data was stored before. */
      reveal,
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
