/** The one free opening of sealed words: a stone's reveal, and a candle's or light's unsealing. */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSealable, sealIssue } from "../../schema/altar/Recipe.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { isPending } from "../payments/store/LedgerSql.ts"
import { rowsOf } from "../platform/Rows.ts"
import { literal, transaction } from "../platform/Sql.ts"
import { now } from "../platform/Time.ts"
import { linksElsewhere, pointsElsewhere } from "./Detector.ts"
import { mismatchOf, seal } from "./Hashes.ts"

interface Kind<E> {
  /** The table of the sealed commitments. */
  readonly table: "witness_stones" | "candles"
  /** The names of the acts that seal them. */
  readonly acts: ReadonlyArray<string>
  /** The name of the words in a request. */
  readonly member: "text" | "words"
  readonly unknown: () => E
  /** The payment of the act is in flight. */
  readonly unsettled: () => E
  readonly unsealed: () => E
  readonly already: () => E
}

interface Words {
  readonly salt: string
  readonly text: string
  readonly agentName?: string | undefined
}

const Text = Schema.NullOr(Schema.String)
const sealedOf = rowsOf(
  "reveals",
  Schema.Struct({ commitment: Text, agentName: Text, isOpen: Schema.Boolean, isNameHidden: Schema.Boolean }),
)

/** Stores words that hash to the commitment. Returns whether they are the first, false for the same data again. */
export const make = Effect.fnUntraced(function* <E>({ acts, already, member, table, ...refusals }: Kind<E>) {
  const sql = yield* SqlClient.SqlClient
  const inTransaction = yield* transaction
  const pending = yield* isPending

  const sealed = (id: string) =>
    sealedOf(sql`
      SELECT s.commitment, r.agent_name, r.id IS NOT NULL AS is_open, 'agentName' = ANY(s.hidden) AS is_name_hidden
      FROM ${literal(table)} s LEFT JOIN reveals r ON r.id = s.id WHERE s.id = ${id}::uuid`)

  return Effect.fnUntraced(function* (id: string, { agentName, salt, text }: Words) {
    if (!isSealable(text)) return yield* new BadRequest({ issues: [sealIssue(member, text)] })
    const at = yield* now
    return yield* inTransaction(
      Effect.gen(function* () {
        const [row] = yield* sealed(id)
        if (row === undefined)
          return yield* Effect.fail((yield* pending(id, acts)) ? refusals.unsettled() : refusals.unknown())
        if (row.commitment === null) return yield* Effect.fail(refusals.unsealed())
        const matches = seal(salt, text) === row.commitment
        if (!row.isOpen && !matches) return yield* mismatchOf(salt, text, row.commitment)
        const inserted = row.isOpen
          ? []
          : yield* sql`
              INSERT INTO reveals (id, payer, salt, text, hidden, agent_name, revealed_at)
              VALUES (${id}::uuid, COALESCE((SELECT payer FROM witness_stones WHERE id = ${id}::uuid), ''), ${salt}, ${text}, ${pointsElsewhere(text) || linksElsewhere(salt)}, ${agentName ?? null}, ${at}::timestamptz)
              ON CONFLICT (id) DO NOTHING RETURNING id`
        if (inserted.length > 0) return true
        // It was open before, or a concurrent request was first. A repetition may omit the name, and confirms none that an
        // operator hides.
        const [open] = yield* sealed(id)
        const isSameName = agentName === undefined || open?.isNameHidden === true || agentName === open?.agentName
        return matches && isSameName ? false : yield* Effect.fail(already())
      }),
    )
  })
})
