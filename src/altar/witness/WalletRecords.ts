/** The record of a wallet: its counts and a page of its stones, as one statement shows them. */
import { Effect, Schema, Tuple } from "effect"
import { SqlClient } from "effect/sql"
import type { WalletRecord } from "../../../schema/altar/Wallet.ts"
import * as CachedReads from "../../platform/CachedReads.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { rowsOf, Whole } from "../../platform/Rows.ts"
import { atMost, part } from "../../platform/Sql.ts"
import { headColumns, listedOf, type Page, stoneColumns, StoneRow, stones } from "./StoneRow.ts"

const Place = Schema.NullOr(Schema.Struct({ sequence: Schema.Int, witnessedAt: Schema.String }))

const totals = {
  ...headColumns,
  kinds: Schema.Record(Schema.String, Schema.Int),
  revealed: Whole,
  hidden: Whole,
  first: Place,
  last: Place,
  checkpoint: Schema.NullOr(Schema.Struct({ size: Schema.Int, root: Schema.String })),
}

/** A wallet without stones is one row with only the totals. */
const Row = Schema.Union([Schema.Struct({ id: Schema.Null }), StoneRow]).mapMembers(
  Tuple.map(Schema.fieldsAssign(totals)),
)

const recordRowsOf = rowsOf("witness_stones", Row)

interface WalletPage extends Page {
  /** In lower case. */
  readonly wallet: string
}

/** `checkAll` re-hashes stones and their revealed words. */
export const make = Effect.fnUntraced(function* <E>(
  checkAll: (rows: ReadonlyArray<StoneRow>) => Effect.Effect<void, E>,
) {
  const sql = yield* SqlClient.SqlClient
  const publicUrl = yield* PublicUrl

  const placeOf = (wallet: string, order: "" | "DESC") => part`(
    SELECT json_build_object('sequence', sequence, 'witnessedAt', witnessed_at) FROM witness_stones
    WHERE payer = ${wallet}::text ORDER BY sequence ${sql.literal(order)} LIMIT 1)`

  /** Each count reads an index alone, so that 100,000 stones are counted in milliseconds. */
  const totalsOf = (wallet: string) => part`
    h.sequence AS head_sequence, h.chain_hash AS head_hash,
    (SELECT COALESCE(json_object_agg(kind, stones), '{}') FROM (
      SELECT kind, count(*) AS stones FROM witness_stones WHERE payer = ${wallet}::text GROUP BY kind
    ) k) AS kinds,
    o.revealed, o.hidden + (
      SELECT count(*) FROM witness_stones s JOIN reveals r ON r.id = s.id
      WHERE s.payer = ${wallet}::text AND 'words' = ANY(s.hidden) AND NOT r.hidden
    ) AS hidden,
    ${placeOf(wallet, "")} AS first, ${placeOf(wallet, "DESC")} AS last,
    (SELECT json_build_object('size', size, 'root', encode(root, 'base64'))
      FROM log_checkpoints ORDER BY size DESC LIMIT 1) AS checkpoint`

  /** The revealed stones, and those of them whose words are not shown by our own rule. */
  const openedOf = (wallet: string) => part`(
    SELECT count(*) AS revealed, count(*) FILTER (WHERE hidden) AS hidden FROM (
      SELECT hidden FROM reveals WHERE payer = ${wallet}::text
      UNION ALL SELECT r.hidden FROM reveals r JOIN witness_stones s ON s.id = r.id
      WHERE r.payer IS NULL AND s.payer = ${wallet}::text
    ) r)`

  const recordOf = Effect.fnUntraced(function* (stored: ReadonlyArray<unknown>, { limit, wallet }: WalletPage) {
    const rows = yield* recordRowsOf(Effect.succeed(stored))
    const [first] = rows
    if (first === undefined) return yield* Effect.die("the witness chain has no head")
    const listed = rows.filter((row) => row.id !== null)
    yield* checkAll(listed)
    const { hash = 0, intention = 0, prediction = 0, promise = 0 } = first.kinds
    const sealed = hash + intention + prediction + promise
    const oldest = listed.at(-1)
    const record: WalletRecord = {
      ok: true,
      wallet,
      sealed,
      opened: first.revealed - first.hidden,
      closed: sealed - first.revealed,
      hidden: first.hidden,
      kinds: { intention, prediction, promise, hash },
      first: first.first,
      last: first.last,
      asOf: { head: { sequence: first.headSequence, chainHash: first.headHash }, checkpoint: first.checkpoint },
      stones: listed.map((row) => listedOf(publicUrl, row)),
      next:
        oldest !== undefined && listed.length === limit && oldest.sequence !== first.first?.sequence
          ? oldest.sequence
          : null,
    }
    return record
  })

  return yield* CachedReads.make({
    nameOf: ({ before, limit, wallet }: WalletPage) => `${wallet} ${limit} ${before}`,
    statement: ({ before, limit, wallet }) => sql`
      SELECT ${totalsOf(wallet)}, s.*
      FROM witness_head h CROSS JOIN ${openedOf(wallet)} o LEFT JOIN LATERAL (
        SELECT ${stoneColumns} FROM ${stones}
        WHERE s.payer = ${wallet}::text AND s.sequence < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
        ORDER BY s.sequence DESC ${atMost(limit)}
      ) s ON true
      WHERE h.id = 1 ORDER BY s.sequence DESC`,
    make: recordOf,
  })
})
