/** The stones as entries: the texts that their chain hashes. The settling transaction gives each its position. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { entryOf } from "../../schema/log/Entry.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { Entries } from "./Entries.ts"

export const layer = Layer.effect(
  Entries,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const chain = yield* WitnessChain
    return Entries.of({
      segment: Effect.fnUntraced(function* (from, limit) {
        const { head, links } = yield* chain.segment(from, limit)
        const entries = links.map((link) => ({ sequence: link.sequence, bytes: entryOf(link) }))
        return { entries, count: head.sequence }
      }),
      find: (id) => sql`
        SELECT sequence, ARRAY[previous_hash, commitment, witnessed_at, transaction, chain_hash] AS parts
        FROM (${chain.linkOf(id)}) l`,
      read: Effect.fnUntraced(function* ({ parts, sequence }) {
        const [previousHash = "", commitment = "", witnessedAt = "", transaction = "", chainHash = ""] = parts
        const link = { previousHash, sequence, commitment, witnessedAt, transaction }
        // A single stone proves its own link.
        yield* chain.check([{ ...link, chainHash }], { sequence: sequence - 1, chainHash: previousHash })
        return entryOf(link)
      }),
    })
  }),
)
