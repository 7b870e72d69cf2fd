/** Reads of stones; link and revealed words are re-hashed before they are shown. */
import { Effect, Schema, Tuple } from "effect"
import { SqlClient } from "effect/sql"
import { WitnessNotFound } from "../../../schema/altar/Witness.ts"
import * as Ledger from "../../payments/store/LedgerSql.ts"
import { currentReceipt } from "../../payments/Receipt.ts"
import * as CachedReads from "../../platform/CachedReads.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { atMost, bounded } from "../../platform/Sql.ts"
import { hiddenColumn, hiddenOfAct, shownReceipt } from "../Hidden.ts"
import { Reveals } from "../Reveals.ts"
import { headColumns, listedOf, type Page, stoneColumns, StoneRow, stones } from "./StoneRow.ts"
import { dateColumns, dateSql, stoneDateOf } from "./StoneDates.ts"
import * as WalletRecords from "./WalletRecords.ts"
import { WitnessChain } from "./WitnessChain.ts"

/** An empty page is one row with only the head. */
const ListRow = Schema.Union([Schema.Struct({ id: Schema.Null }), StoneRow]).mapMembers(
  Tuple.map(Schema.fieldsAssign(headColumns)),
)

const listOf = rowsOf("witness_stones", ListRow)
const stonesOf = rowsOf("witness_stones", StoneRow)
const paidStonesOf = rowsOf(
  "witness_stones",
  Schema.Struct({
    ...StoneRow.fields,
    receipt: Ledger.storedJson,
    hidden: hiddenColumn,
    nonce: Schema.NullOr(Schema.String),
    ...dateColumns,
    ...Ledger.paymentStateColumns,
  }),
)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const chain = yield* WitnessChain
  const reveals = yield* Reveals
  const publicUrl = yield* PublicUrl

  const pageOf = Effect.fnUntraced(function* (stored: ReadonlyArray<unknown>) {
    const rows = yield* listOf(Effect.succeed(stored))
    const [first] = rows
    if (first === undefined) return yield* Effect.die("the witness chain has no head")
    const listed = rows.filter((row) => row.id !== null)
    const oldest = listed.at(-1)
    if (oldest !== undefined) {
      yield* chain.check(listed.toReversed(), { sequence: oldest.sequence - 1, chainHash: oldest.previousHash })
    }
    yield* reveals.check(listed)
    return {
      ok: true as const,
      stones: listed.map((row) => listedOf(publicUrl, row)),
      head: { sequence: first.headSequence, chainHash: first.headHash },
      next: oldest !== undefined && oldest.sequence > 1 ? oldest.sequence : null,
    }
  })

  const page = yield* CachedReads.make({
    nameOf: ({ before, limit }: Page) => `${limit} ${before}`,
    statement: ({ before, limit }) => sql`
      SELECT h.sequence AS head_sequence, h.chain_hash AS head_hash, s.*
      FROM witness_head h LEFT JOIN LATERAL (
        SELECT ${stoneColumns} FROM ${stones}
        WHERE s.sequence < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
        ORDER BY s.sequence DESC ${atMost(limit)}
      ) s ON true
      WHERE h.id = 1 ORDER BY s.sequence DESC`,
    make: pageOf,
  })

  const list = (limit: number, before: number | undefined) => page({ limit, before })

  /** A stone alone proves its own link and words; the stones before it prove theirs. */
  const checkAlone = (stone: StoneRow) =>
    Effect.andThen(
      chain.check([stone], { sequence: stone.sequence - 1, chainHash: stone.previousHash }),
      reveals.check([stone]),
    )

  const checkEach = (rows: ReadonlyArray<StoneRow>) => Effect.forEach(rows, checkAlone, { discard: true })

  const ofWallet = yield* WalletRecords.make(checkEach)

  const find = Effect.fn("WitnessStones.find")(function* (
    by: { readonly spirit: string } | { readonly hash: string },
    limit: number,
  ) {
    const which =
      "spirit" in by
        ? sql`s.spirit = ${by.spirit}::text`
        : sql`(s.commitment = ${by.hash}::text OR s.chain_hash = ${by.hash}::text)`
    const rows = yield* bounded(
      stonesOf(sql`
        SELECT ${stoneColumns} FROM ${stones} WHERE ${which} ORDER BY s.sequence DESC LIMIT ${limit}::int`),
    )
    yield* checkEach(rows)
    return rows.map((row) => listedOf(publicUrl, row))
  })

  const get = Effect.fn("WitnessStones.get")(function* (id: string) {
    const [row] = yield* bounded(
      paidStonesOf(sql`
        SELECT ${stoneColumns}, a.receipt, a.hidden, p.payment -> 'authorization' ->> 'nonce' AS nonce, ${dateSql}, ${Ledger.paymentState}
        FROM ${stones} JOIN ${Ledger.settledActs} ON a.id = s.id WHERE s.id = ${id}::uuid`),
    )
    if (row === undefined) return yield* new WitnessNotFound({})
    yield* checkAlone(row)
    const receipt = currentReceipt(shownReceipt(row.receipt, hiddenOfAct(row)), row)
    return { stone: listedOf(publicUrl, row), receipt, nonce: row.nonce, dated: stoneDateOf(row) }
  })

  return { find, get, list, ofWallet }
})
