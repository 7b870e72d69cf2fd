/** Stores the times of the final blocks that hold payments, so that a read of a payment asks no node. */
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Whole } from "../../../platform/Rows.ts"
import { Chain } from "./Chain.ts"

/** Maximum blocks in one sweep. */
const blocksAtMost = 50

const blocksOf = rowsOf("payment_attempts", Schema.Struct({ block: Whole }))

/** Asks for the times that are missing. A block without an answer is asked for again in the next sweep. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { timeOf } = yield* Chain
  return Effect.fn("BlockTimes.store")(function* (network: string) {
    const blocks = yield* blocksOf(sql`
      SELECT DISTINCT settled_block AS block FROM payment_attempts
      WHERE finality = 'final' AND rail = 'x402' AND block_time IS NULL AND settled_block IS NOT NULL
        AND payment ->> 'network' = ${network}::text
      ORDER BY settled_block LIMIT ${blocksAtMost}::int`)
    const times = yield* Effect.forEach(
      blocks,
      ({ block }) => Effect.option(Effect.map(timeOf(BigInt(block)), (time) => ({ block, time: Number(time) }))),
      { concurrency: 8 },
    )
    const mined = times.filter(Option.isSome).map(({ value }) => value)
    if (mined.length === 0) return
    yield* sql`
      UPDATE payment_attempts a SET block_time = t.time
      FROM json_to_recordset(${JSON.stringify(mined)}::json) AS t(block bigint, time bigint)
      WHERE a.settled_block = t.block AND a.finality = 'final' AND a.rail = 'x402' AND a.block_time IS NULL
        AND a.payment ->> 'network' = ${network}::text`
  })
})
