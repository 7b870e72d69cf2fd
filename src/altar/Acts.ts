/** The acts of this altar, and the settled acts as public rows; `docs/acts.md` shows how to add an act. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { Act } from "../../schema/altar/ActApi.ts"
import type { sales } from "../../schema/altar/Sales.ts"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { actsByName, PaidActs } from "../payments/Act.ts"
import * as Ledger from "../payments/store/LedgerSql.ts"
import { currentReceipt } from "../payments/Receipt.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import * as CachedReads from "../platform/CachedReads.ts"
import { Moment, readable, rowReader } from "../platform/Rows.ts"
import { atMost, bounded, literal, part } from "../platform/Sql.ts"
import { lighting } from "./candles/CandleRow.ts"
import { Candles } from "./candles/Candles.ts"
import { collecting, Collectibles } from "./collectibles/Collectibles.ts"
import { keeping, Keepers } from "./keepers/Keepers.ts"
import { Prayers, praying } from "./prayers/Prayers.ts"
import { commitmentOfReveal, revealColumns, revealOf, Reveals } from "./Reveals.ts"
import type { ActText } from "./ActText.ts"
import { hiddenColumn, hiddenOfAct, revealed, shownName, shownReceipt, shownRecord } from "./Hidden.ts"
import { witnessing } from "./witness/StoneRow.ts"
import { WitnessStones } from "./witness/WitnessStones.ts"

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

const actTexts: Readonly<Record<(typeof sales)[number]["identifier"], ActText>> = {
  offerPrayer: praying,
  takeIn: keeping,
  collectMaterial: collecting,
  lightDay: lighting,
  lightWeek: lighting,
  lightMonth: lighting,
  setWitnessStone: witnessing,
}

/** The text of each act sold here, by name. */
export const ActTexts = Context.Reference<ReadonlyMap<string, ActText>>("spirit-altar/altar/ActTexts", {
  defaultValue: () => new Map(Object.entries(actTexts)),
})

/** Acts of these names, with this spirit, paid by this wallet; an absent part admits all. */
export interface ActFilter {
  readonly acts?: ReadonlyArray<string> | undefined
  readonly spirit?: string | undefined
  readonly wallet?: string | undefined
}

const filterName = ({ acts, spirit, wallet }: ActFilter) => `${acts} ${spirit} ${wallet}`

/** Conditions on `a` and `p` of `settledActs`. */
const conditions = ({ acts, spirit, wallet }: ActFilter): ReadonlyArray<Statement.Fragment> => [
  ...(acts === undefined ? [] : [part`a.act = ANY(${acts}::text[])`]),
  ...(spirit === undefined ? [] : [part`(a.record::jsonb ->> 'spirit') = ${spirit}::text`]),
  ...(wallet === undefined ? [] : [Ledger.paidBy(wallet)]),
]

/** Receipt and record as first answered. */
const ActRow = Schema.Struct({
  id: Schema.String,
  act: Schema.String,
  permalink: Schema.String,
  agentName: Schema.NullOr(Schema.String),
  settledAt: Moment,
  receipt: Ledger.storedJson,
  record: Schema.String,
  hidden: hiddenColumn,
  ...Ledger.paymentStateColumns,
  ...revealColumns,
  commitment: Schema.NullOr(Schema.String),
})

const readAct = rowReader("acts", ActRow)
const readId = rowReader("acts", Schema.Struct({ id: Schema.String }))
const readMatch = rowReader("acts", Schema.Struct({ isRevealed: Schema.Boolean }))

const priceOf = Schema.decodeUnknownEffect(Schema.Struct({ priceUsd: Schema.String }))

/** A row and its JSON text. The record keeps the bytes of the first answer; the receipt states the current payment. */
const readText = Effect.fnUntraced(function* (stored: unknown) {
  const row = yield* readAct(stored)
  const { priceUsd } = yield* Effect.orDie(priceOf(row.receipt))
  const hidden = hiddenOfAct(row)
  const text = jsonOf<typeof Act.Type>({
    id: row.id,
    act: row.act,
    permalink: row.permalink,
    agentName: shownName(row.agentName, hidden),
    priceUsd,
    settledAt: row.settledAt,
    receipt: new JsonText(JSON.stringify(currentReceipt(shownReceipt(row.receipt, hidden), row))),
    record: new JsonText(shownRecord(row.record, hidden)),
    reveal: revealOf(row),
  })
  return { row, text }
})

/** A page of JSON texts; `next` is the id after which the next page begins. */
export interface ActPage {
  readonly acts: ReadonlyArray<string>
  readonly next: string | null
}

interface Page extends ActFilter {
  readonly limit: number
  /** The id of an act; the page holds older ones. */
  readonly before: string | undefined
}

/** The transaction or name of an act. */
export type Leaving = { readonly transaction: string } | { readonly name: string }

/** Maximum texts of one kind that a search reads, the newest first. */
export const searchMaximum = Context.Reference("spirit-altar/altar/Acts/searchMaximum", { defaultValue: () => 10_000 })

/** Selects the ids of acts whose newest shown texts contain `words` in any spelling; `is_revealed` tells revealed words. */
const containing = (owners: Iterable<ActText>, words: string, most: number) => {
  // The limit inside keeps PostgreSQL from comparing every text.
  const search = (from: string, text: string, member: string) =>
    part`SELECT n.id, ${member === "words"}::boolean AS is_revealed FROM (
        SELECT a.id, ${literal(text)} AS shown FROM acts a JOIN ${literal(from)}
        WHERE ${literal(text)} IS NOT NULL AND NOT ${member}::text = ANY(t.hidden)
        ORDER BY a.settled_at DESC, a.id DESC LIMIT ${most}::int) n
      WHERE strpos(lower(n.shown), lower(${words}::text)) > 0`
  const own = Array.from(owners).flatMap(({ hideable: { table, texts } }) =>
    Object.entries(texts).map(([member, column]) => search(`${table} t ON t.id = a.id`, `t.${column}`, member)),
  )
  const revealed = search("acts t ON t.id = a.id JOIN reveals r ON r.id = a.id AND NOT r.hidden", "r.text", "words")
  return own.reduce((union, next) => part`${union} UNION ALL ${next}`, revealed)
}

export class Acts extends Context.Service<Acts>()("spirit-altar/altar/Acts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reveals = yield* Reveals
    const columns = part`a.*, ${Ledger.paymentState}, ${revealed("a")}, ${commitmentOfReveal}`
    const settled = part`${Ledger.settledActs} LEFT JOIN reveals r ON r.id = a.id`
    const rowsWhere = (which: Statement.Fragment) => sql`SELECT ${columns} FROM ${settled} ${which}`
    const settledRows = (which: Statement.Fragment) => bounded(rowsWhere(which))

    /** The texts of readable rows, after a check that revealed words match their commitments. */
    const textsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
      const acts = yield* readable(rows, readText)
      yield* reveals.check(acts.map(({ row }) => row))
      return acts.map(({ text }) => text)
    })

    const get = Effect.fn("Acts.get")(function* (id: string) {
      const [row] = yield* settledRows(sql`WHERE a.id = ${id}::uuid`)
      if (row === undefined) return yield* new ActNotFound({})
      const act = yield* readText(row)
      yield* reveals.check([act.row])
      return act.text
    })

    const pageOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>, { limit }: Page) {
      const last = rows[limit - 1]
      const next = last === undefined ? null : (yield* readId(last)).id
      const page: ActPage = { acts: yield* textsOf(rows), next }
      return page
    })

    const page = yield* CachedReads.make({
      nameOf: (page: Page) => `${page.limit} ${page.before} ${filterName(page)}`,
      statement: ({ before, limit, ...filter }) => {
        const below = before === undefined ? [] : [part`(a.settled_at, a.id) < ${Ledger.placeOfAct(before)}`]
        return rowsWhere(
          sql`WHERE ${sql.and([part`true`, ...conditions(filter), ...below])}
            ORDER BY a.settled_at DESC, a.id DESC ${atMost(limit)}`,
        )
      },
      make: pageOf,
    })

    const list = (limit: number, before: string | undefined, filter: ActFilter = {}) =>
      page({ limit, before, ...filter })

    const leftBy = Effect.fn("Acts.leftBy")(function* (by: Leaving, limit: number) {
      const which = "name" in by ? Ledger.namedBy(by.name) : Ledger.settledIn(by.transaction)
      const newest = "name" in by ? sql`a.settled_at DESC, a.id DESC` : Ledger.newestPayment
      const rows = yield* settledRows(sql`WHERE ${which} ORDER BY ${newest} LIMIT ${limit}::int`)
      return yield* textsOf(rows)
    })

    const most = yield* searchMaximum
    // Acts of one table share a text.
    const owners = new Set((yield* ActTexts).values())

    const saying = Effect.fn("Acts.saying")(function* (words: string, limit: number) {
      const matches = containing(owners, words, most)
      const statement = sql`
        SELECT ${columns}, f.is_revealed
        FROM (SELECT DISTINCT ON (id) * FROM (${matches}) t ORDER BY id, is_revealed) f, ${settled}
        WHERE a.id = f.id
        ORDER BY a.settled_at DESC, a.id DESC LIMIT ${limit}::int`
      const rows = yield* readable(yield* bounded(statement), (row) =>
        Effect.all({ act: readText(row), match: readMatch(row) }),
      )
      yield* reveals.check(rows.map(({ act }) => act.row))
      // A salt with a link hides its words, which the database cannot tell.
      return rows
        .filter(({ act, match }) => !match.isRevealed || typeof revealOf(act.row)?.text === "string")
        .map(({ act }) => act.text)
    })

    return {
      get,
      /** JSON texts, newest first, below `before` when given. Unreadable rows are logged and omitted, here and below. */
      list,
      /** JSON texts of the acts with this transaction or name, newest first. */
      leftBy,
      /** JSON texts of the acts whose shown texts contain these words, newest first. */
      saying,
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
