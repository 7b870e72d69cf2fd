/** The one free reveal of a stone: stores words and salt that hash to its commitment. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSealable, sealIssue } from "../../../schema/altar/Commitment.ts"
import { AlreadyRevealed, type RevealBody, WitnessNotFound, WitnessNotSettled } from "../../../schema/altar/Witness.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { isPending } from "../../payments/store/LedgerSql.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { transaction } from "../../platform/Sql.ts"
import { now } from "../../platform/Time.ts"
import { pointsElsewhere } from "../Detector.ts"
import { mismatchOf, seal } from "../Hashes.ts"

const commitmentsOf = rowsOf("witness_stones", Schema.Struct({ commitment: Schema.String }))

const revealsOf = rowsOf("witness_reveals", Schema.Struct({ agentName: Schema.NullOr(Schema.String) }))

/** `act` is the name of the act that sets a stone. Returns whether this was the first reveal. */
export const make = Effect.fnUntraced(function* (act: string) {
  const sql = yield* SqlClient.SqlClient
  const inTransaction = yield* transaction
  const pending = yield* isPending
  const reveals = (id: string) => revealsOf(sql`SELECT agent_name FROM witness_reveals WHERE stone_id = ${id}::uuid`)

  /** The 409 of an id whose payment is in flight, otherwise the 404. */
  const notThere = (id: string) =>
    Effect.flatMap(pending(id, [act]), (is): Effect.Effect<never, WitnessNotSettled | WitnessNotFound> =>
      Effect.fail(is ? new WitnessNotSettled({}) : new WitnessNotFound({})),
    )

  /** Whether a stone is sealed, or revealed under the same name or another; an omitted name counts as the same. */
  const standing = Effect.fnUntraced(function* (id: string, agentName: string | undefined) {
    const [row] = yield* reveals(id)
    if (row === undefined) return "sealed"
    return agentName === undefined || agentName === row.agentName ? "same" : "other"
  })

  return Effect.fnUntraced(function* (id: string, body: typeof RevealBody.Type) {
    if (!isSealable(body.text)) return yield* new BadRequest({ issues: [sealIssue("text", body.text)] })
    const at = yield* now
    return yield* inTransaction(
      Effect.gen(function* () {
        const [stone] = yield* commitmentsOf(sql`SELECT commitment FROM witness_stones WHERE id = ${id}::uuid`)
        if (stone === undefined) return yield* notThere(id)
        const matches = seal(body.salt, body.text) === stone.commitment
        const before = yield* standing(id, body.agentName)
        if (before !== "sealed") return matches && before === "same" ? false : yield* new AlreadyRevealed({})
        if (!matches) return yield* mismatchOf(body.salt, body.text, stone.commitment)
        const inserted = yield* sql`
          INSERT INTO witness_reveals (stone_id, salt, text, hidden, agent_name, revealed_at)
          VALUES (${id}::uuid, ${body.salt}, ${body.text}, ${pointsElsewhere(body.text)},
            ${body.agentName ?? null}, ${at}::timestamptz)
          ON CONFLICT (stone_id) DO NOTHING RETURNING stone_id`
        if (inserted.length > 0) return true
        // A concurrent reveal was first.
        return (yield* standing(id, body.agentName)) === "same" ? false : yield* new AlreadyRevealed({})
      }),
    )
  })
})
