/** The name given with a reveal, which is hidden while an operator hides the name of its stone. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { publicActs } from "../../payments/store/LedgerSql.ts"
import { rowsOf } from "../../platform/Rows.ts"
import * as HiddenTexts from "../HiddenTexts.ts"

const revealsOf = rowsOf("witness_reveals", Schema.Struct({ agentName: Schema.NullOr(Schema.String) }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const acts = yield* publicActs
  const hidden = yield* HiddenTexts.make
  const reveals = (id: string) => revealsOf(sql`SELECT agent_name FROM witness_reveals WHERE stone_id = ${id}::uuid`)

  return {
    /**
     * Returns the name to store. While the act's name is hidden, the given name is kept with it and a placeholder
     * stored, so that both are restored together. Runs in the reveal's transaction and waits for a concurrent hiding.
     */
    toStore: Effect.fnUntraced(function* (id: string, name: string) {
      yield* acts.lock(id)
      // A concurrent reveal was first, so its name is the stored one.
      const isLate = (yield* reveals(id)).length > 0
      if (isLate || (yield* hidden.find(id, "name")) === undefined) return name
      yield* hidden.keep(id, "name", { reveal: name })
      return hiddenByOperator
    }),
    /** The given name, hidden or not: null when none was given, undefined without a reveal. */
    given: Effect.fnUntraced(function* (id: string) {
      const [row] = yield* reveals(id)
      if (row === undefined) return undefined
      return (yield* hidden.find(id, "name"))?.["reveal"] ?? row.agentName
    }),
  }
})
