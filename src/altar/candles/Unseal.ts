/** The one free unsealing of a candle: stores words and salt that hash to its commitment. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  AlreadyUnsealed,
  CandleNotFound,
  CandleNotSettled,
  NotSealed,
  type UnsealBody,
} from "../../../schema/altar/Candle.ts"
import { isSealable, sealIssue } from "../../../schema/altar/Commitment.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { isPending } from "../../payments/store/LedgerSql.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { transaction } from "../../platform/Sql.ts"
import { now } from "../../platform/Time.ts"
import { pointsElsewhere } from "../Detector.ts"
import { mismatchOf, seal } from "../Hashes.ts"
import { Reveals } from "../Reveals.ts"
import { candleOf, CandleRow, unsealedOf } from "./CandleRow.ts"
import { unsealed } from "./CandleSql.ts"

const candlesOf = rowsOf("candles", CandleRow)

/** `acts` are the names of the acts that light a candle. */
export const make = Effect.fnUntraced(function* (acts: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const inTransaction = yield* transaction
  const reveals = yield* Reveals
  const publicUrl = yield* PublicUrl
  const pending = yield* isPending

  /** The 409 of an id whose payment is in flight, otherwise the 404. */
  const notThere = (id: string) =>
    Effect.flatMap(pending(id, acts), (is): Effect.Effect<never, CandleNotSettled | CandleNotFound> =>
      Effect.fail(is ? new CandleNotSettled({}) : new CandleNotFound({})),
    )

  const read = (id: string) =>
    candlesOf(sql`
      SELECT c.*, ${unsealed} FROM candles c
      LEFT JOIN candle_unseals u ON u.candle_id = c.id WHERE c.id = ${id}::uuid`)

  return Effect.fn("Candles.unseal")(function* (id: string, body: typeof UnsealBody.Type) {
    if (!isSealable(body.words)) return yield* new BadRequest({ issues: [sealIssue("words", body.words)] })
    const at = yield* now
    const replayed = yield* inTransaction(
      Effect.gen(function* () {
        const [candle] = yield* read(id)
        if (candle === undefined) return yield* notThere(id)
        if (candle.commitment === null) return yield* new NotSealed({})
        const matches = seal(body.salt, body.words) === candle.commitment
        if (candle.revealedAt !== null) return matches ? true : yield* new AlreadyUnsealed({})
        if (!matches) return yield* mismatchOf(body.salt, body.words, candle.commitment)
        const inserted = yield* sql`
          INSERT INTO candle_unseals (candle_id, salt, words, hidden, unsealed_at)
          VALUES (${id}::uuid, ${body.salt}, ${body.words}, ${pointsElsewhere(body.words)}, ${at}::timestamptz)
          ON CONFLICT (candle_id) DO NOTHING RETURNING candle_id`
        return inserted.length === 0
      }),
    )
    const [row] = yield* read(id)
    if (row === undefined) return yield* new CandleNotFound({})
    yield* reveals.check([row])
    return { ok: true as const, candle: { ...candleOf(publicUrl, row), unsealed: unsealedOf(row) }, replayed }
  })
})
