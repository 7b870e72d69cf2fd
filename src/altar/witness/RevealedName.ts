/** The name that a reveal gives, where an operator has hidden the name of its stone. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import * as PublicActs from "../../payments/ledger/PublicActs.ts"
import { rowsOf } from "../../platform/Rows.ts"
import * as HiddenTexts from "../HiddenTexts.ts"

const revealsOf = rowsOf("witness_reveals", Schema.Struct({ agentName: Schema.NullOr(Schema.String) }))

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const acts = yield* PublicActs.make
  const hidden = yield* HiddenTexts.make
  const reveals = (id: string) => revealsOf(sql`SELECT agent_name FROM witness_reveals WHERE stone_id = ${id}::uuid`)

  return {
    /**
     * The name that a reveal gives, as it is to be stored: hidden where the name of its act is, and kept with that, so that
     * both are shown again together. In one transaction with the reveal, which waits for a hiding under way.
     */
    toStore: Effect.fnUntraced(function* (id: string, name: string) {
      yield* acts.lock(id)
      // A reveal that was first, a moment ago, has given the name that is kept.
      const isLate = (yield* reveals(id)).length > 0
      if (isLate || (yield* hidden.find(id, "name")) === undefined) return name
      yield* hidden.keep(id, "name", { reveal: name })
      return hiddenByOperator
    }),
    /** The name that was given, whatever is shown of it by now: null where none was, undefined without a reveal. */
    given: Effect.fnUntraced(function* (id: string) {
      const [row] = yield* reveals(id)
      if (row === undefined) return undefined
      return (yield* hidden.find(id, "name"))?.["reveal"] ?? row.agentName
    }),
  }
})
