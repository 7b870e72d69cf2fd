/**
 * The one free reveal of a stone: stores words and salt that hash to its commitment. A name given with it is hidden while
 * an operator hides the name of the stone.
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSealable, sealIssue } from "../../../schema/altar/Commitment.ts"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { AlreadyRevealed, type RevealBody, WitnessNotFound, WitnessNotSettled } from "../../../schema/altar/Witness.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { isPending, publicActs } from "../../payments/store/LedgerSql.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { transaction } from "../../platform/Sql.ts"
import { now } from "../../platform/Time.ts"
import { pointsElsewhere } from "../Detector.ts"
import { mismatchOf, seal } from "../Hashes.ts"
import * as HiddenTexts from "../HiddenTexts.ts"

const commitmentsOf = rowsOf("witness_stones", Schema.Struct({ commitment: Schema.String }))

const revealsOf = rowsOf("witness_reveals", Schema.Struct({ agentName: Schema.NullOr(Schema.String) }))

/** `act` is the name of the act that sets a stone. Returns whether this was the first reveal. */
export const make = Effect.fnUntraced(function* (act: string) {
  const sql = yield* SqlClient.SqlClient
  const inTransaction = yield* transaction
  const pending = yield* isPending
  const acts = yield* publicActs
  const hidden = yield* HiddenTexts.make
  const reveals = (id: string) => revealsOf(sql`SELECT agent_name FROM witness_reveals WHERE stone_id = ${id}::uuid`)

  /**
   * Returns the name to store. While the act's name is hidden, the given name is kept with it and a placeholder stored,
   * so that both are restored together. Runs in the reveal's transaction and waits for a concurrent hiding.
   */
  const nameToStore = Effect.fnUntraced(function* (id: string, name: string) {
    yield* acts.lock(id)
    // A concurrent reveal was first, so its name is the stored one.
    const isLate = (yield* reveals(id)).length > 0
    if (isLate || (yield* hidden.find(id, "name")) === undefined) return name
    yield* hidden.keep(id, "name", { reveal: name })
    return hiddenByOperator
  })

  /** The 409 of an id whose payment is in flight, otherwise the 404. */
  const notThere = (id: string) =>
    Effect.flatMap(pending(id, [act]), (is): Effect.Effect<never, WitnessNotSettled | WitnessNotFound> =>
      Effect.fail(is ? new WitnessNotSettled({}) : new WitnessNotFound({})),
    )

  /** Whether a stone is sealed, or revealed under the same name or another; an omitted name counts as the same. */
  const standing = Effect.fnUntraced(function* (id: string, agentName: string | undefined) {
    const [row] = yield* reveals(id)
    if (row === undefined) return "sealed"
    const given = (yield* hidden.find(id, "name"))?.["reveal"] ?? row.agentName
    return agentName === undefined || agentName === given ? "same" : "other"
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
        const name = body.agentName === undefined ? null : yield* nameToStore(id, body.agentName)
        const inserted = yield* sql`
          INSERT INTO witness_reveals (stone_id, salt, text, hidden, agent_name, revealed_at)
          VALUES (${id}::uuid, ${body.salt}, ${body.text}, ${pointsElsewhere(body.text)}, ${name},
            ${at}::timestamptz)
          ON CONFLICT (stone_id) DO NOTHING RETURNING stone_id`
        if (inserted.length > 0) return true
        // A concurrent reveal was first.
        return (yield* standing(id, body.agentName)) === "same" ? false : yield* new AlreadyRevealed({})
      }),
    )
  })
})
