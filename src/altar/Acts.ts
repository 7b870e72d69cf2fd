/** The acts of this altar; `docs/adding-an-act.md` shows how one is added. And the settled acts, as public rows. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { actsByName, PaidActs } from "../payments/PaidAct.ts"
import { currentReceipt, type Standing } from "../payments/Receipts.ts"
import { Candles } from "./candles/Candles.ts"
import { Collectibles } from "./collectibles/Collectibles.ts"
import { Keepers } from "./keepers/Keepers.ts"
import { Prayers } from "./prayers/Prayers.ts"
import { WitnessStones } from "./witness/WitnessStones.ts"

/** The services that hold the acts. */
export const actServices = Layer.mergeAll(
  Prayers.layer,
  Keepers.layer,
  Collectibles.layer,
  Candles.layer,
  WitnessStones.layer,
)

/** The altar's acts, in the order of the price list. */
export const paidActs = Layer.effect(
  PaidActs,
  Effect.gen(function* () {
    const candles = (yield* Candles).acts
    return actsByName([
      (yield* Prayers).act,
      (yield* Keepers).act,
      (yield* Collectibles).act,
      candles.day,
      candles.week,
      candles.month,
      (yield* WitnessStones).act,
    ])
  }),
)

interface ActRow extends Standing {
  readonly id: string
  readonly act: string
  readonly permalink: string
  readonly agentName: string | null
  readonly settledAt: Date
  /** JSON texts, as they were first answered. */
  readonly receipt: string
  readonly record: string
}

/** A settled act as JSON text; its record has the bytes of the first answer, its receipt says how it stands now. */
const textOf = (row: ActRow): string => {
  const receipt: { readonly priceUsd: string } = JSON.parse(row.receipt)
  const head = JSON.stringify({
    id: row.id,
    act: row.act,
    permalink: row.permalink,
    agentName: row.agentName,
    priceUsd: receipt.priceUsd,
    settledAt: row.settledAt.toISOString(),
  })
  return `${head.slice(0, -1)},"receipt":${currentReceipt(row.receipt, row)},"record":${row.record}}`
}

export class Acts extends Context.Service<
  Acts,
  {
    /** The JSON text of a settled act. */
    get(id: string): Effect.Effect<string, ActNotFound | SqlError.SqlError>
    /** JSON texts of acts, newest first, below `before` when given; `next` continues after the last. */
    list(
      limit: number,
      before: string | undefined,
    ): Effect.Effect<{ readonly acts: ReadonlyArray<string>; readonly next: string | null }, SqlError.SqlError>
    /** JSON texts of the acts a wallet paid for or a transaction settled, newest first. */
    paidBy(
      by: { readonly wallet: string } | { readonly transaction: string },
      limit: number,
    ): Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
  }
>()("spirit-altar/altar/Acts") {
  static readonly layer = Layer.effect(
    Acts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const paidActs = sql.literal(
        "SELECT a.*, p.rail, p.finality, p.current_transaction FROM acts a JOIN payment_attempts p ON p.id = a.id",
      )

      const get = Effect.fn("Acts.get")(function* (id: string) {
        const rows = yield* sql<ActRow>`${paidActs} WHERE a.id = ${id}::uuid`
        const row = rows[0]
        return row === undefined ? yield* new ActNotFound({}) : textOf(row)
      })

      const list = Effect.fn("Acts.list")(function* (limit: number, before: string | undefined) {
        const rows =
          before === undefined
            ? yield* sql<ActRow>`${paidActs} ORDER BY a.settled_at DESC, a.id DESC LIMIT ${limit}::int`
            : yield* sql<ActRow>`
                ${paidActs}
                WHERE (a.settled_at, a.id) < (SELECT settled_at, id FROM acts WHERE id = ${before}::uuid)
                ORDER BY a.settled_at DESC, a.id DESC LIMIT ${limit}::int`
        return { acts: rows.map(textOf), next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null }
      })

      const paidBy = Effect.fn("Acts.paidBy")(function* (
        by: { readonly wallet: string } | { readonly transaction: string },
        limit: number,
      ) {
        const which =
          "wallet" in by
            ? sql`lower(p.payer) = ${by.wallet.toLowerCase()}::text`
            : sql`(p.transaction = ${by.transaction.toLowerCase()}::text
                OR p.current_transaction = ${by.transaction.toLowerCase()}::text)`
        const rows = yield* sql<ActRow>`${paidActs}
          WHERE p.state = 'settled' AND ${which} ORDER BY p.ended_at DESC, p.id DESC LIMIT ${limit}::int`
        return rows.map(textOf)
      })

      return Acts.of({ get, list, paidBy })
    }),
  )
}
