/**
 * What an operator does not show any more. What is covered by a hash or was answered to the payer stays as it is; only
 * what the public is shown of it changes, and what was shown before is kept, so that it can be shown again.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import * as PublicActs from "../payments/ledger/PublicActs.ts"
import { rowsOf } from "../platform/Rows.ts"

/** What of an act can be hidden. */
export const hideable = ["name", "dedication", "reason", "words"] as const
export type Hideable = (typeof hideable)[number]

/** Why nothing was changed. */
export class NothingToHide extends Schema.TaggedError<NothingToHide>()("NothingToHide", { message: Schema.String }) {}

const shownOf = rowsOf("moderation_hidden", Schema.Struct({ shown: Schema.String }))

const Shown = Schema.fromJsonString(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
type Shown = Readonly<Record<string, string | null>>

const Members = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

/** A record with some of its members changed, where it has them and they say something; the order stays. */
const changed = (record: string, members: Readonly<Record<string, string | null>>) =>
  Effect.map(Effect.orDie(Schema.decodeEffect(Members)(record)), (known) =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(known).map(([name, value]) => {
          const other = members[name]
          return [name, other === undefined || value === null ? value : other]
        }),
      ),
    ),
  )

/** What a record says under a name; null when it says nothing. */
const saidOf = (record: string, name: string) =>
  Effect.map(Effect.orDie(Schema.decodeEffect(Members)(record)), (known) => {
    const value = known[name]
    return typeof value === "string" ? value : null
  })

/**
 * The name that a later reveal of a stone gives, as it is to be stored: hidden where the name of its act is, and kept with
 * that, so that both are shown again together. In one transaction with the reveal, which waits for a hiding under way.
 */
export const revealedName = (sql: SqlClient.SqlClient) => {
  const acts = PublicActs.make(sql)
  return Effect.fnUntraced(function* (id: string, name: string) {
    yield* acts.lock(id)
    const [hidden] = yield* shownOf(
      sql`SELECT shown FROM moderation_hidden WHERE subject = ${id}::uuid AND field = 'name'`,
    )
    // A reveal that was first, a moment ago, has given the name that is kept.
    const isLate = (yield* sql`SELECT FROM witness_reveals WHERE stone_id = ${id}::uuid`).length > 0
    if (hidden === undefined || isLate) return name
    const shown = { ...(yield* Effect.orDie(Schema.decodeEffect(Shown)(hidden.shown))), reveal: name }
    yield* sql`UPDATE moderation_hidden SET shown = ${JSON.stringify(shown)} WHERE subject = ${id}::uuid AND field = 'name'`
    return hiddenByOperator
  })
}

const revealedNamesOf = rowsOf(
  "witness_reveals",
  Schema.Struct({ agentName: Schema.NullOr(Schema.String), shown: Schema.NullOr(Schema.String) }),
)

/** The name that the reveal of a stone gave, whatever is shown of it by now: null where it gave none, undefined without a reveal. */
export const givenName = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (id: string) {
    const [row] = yield* revealedNamesOf(sql`
      SELECT r.agent_name, h.shown FROM witness_reveals r
      LEFT JOIN moderation_hidden h ON h.subject = r.stone_id AND h.field = 'name' WHERE r.stone_id = ${id}::uuid`)
    if (row === undefined || row.shown === null) return row?.agentName
    const { reveal } = yield* Effect.orDie(Schema.decodeEffect(Shown)(row.shown))
    return reveal ?? row.agentName
  })

export class Moderation extends Context.Service<
  Moderation,
  {
    /** Each in one transaction with what its caller does; `id` is that of the act. */
    hide(id: string, field: Hideable): Effect.Effect<void, NothingToHide | SqlError.SqlError>
    show(id: string, field: Hideable): Effect.Effect<void, NothingToHide | SqlError.SqlError>
  }
>()("spirit-altar/altar/Moderation") {
  static readonly layer = Layer.effect(
    Moderation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const acts = PublicActs.make(sql)

      const actOf = Effect.fnUntraced(function* (id: string) {
        const found = yield* acts.find(id)
        if (Option.isNone(found)) return yield* new NothingToHide({ message: `No settled act has the id ${id}.` })
        return found.value
      })

      /** In every table that shows a name; a name that nobody gave stays absent. */
      const nameEverywhere = (id: string, name: string) =>
        Effect.forEach(
          ["prayers", "keepers", "candles", "collectibles", "witness_stones"],
          (table) => sql`UPDATE ${sql.literal(table)} SET agent_name = ${name}
            WHERE id = ${id}::uuid AND agent_name IS NOT NULL`,
        )

      const revealName = rowsOf("witness_reveals", Schema.Struct({ agentName: Schema.NullOr(Schema.String) }))

      const readShown = (text: string) => Effect.orDie(Schema.decodeEffect(Shown)(text))

      /** What was hidden before stays as it was first; what came since, such as the name of a later reveal, is added. */
      const keep = Effect.fnUntraced(function* (id: string, field: Hideable, shown: Shown) {
        const [before] = yield* shownOf(
          sql`SELECT shown FROM moderation_hidden WHERE subject = ${id}::uuid AND field = ${field}`,
        )
        const kept = before === undefined ? {} : yield* readShown(before.shown)
        const all = { ...shown, ...Object.fromEntries(Object.entries(kept).filter(([, text]) => text !== null)) }
        yield* sql`
          INSERT INTO moderation_hidden (subject, field, shown) VALUES (${id}::uuid, ${field}, ${JSON.stringify(all)})
          ON CONFLICT (subject, field) DO UPDATE SET shown = excluded.shown`
      })

      const texts = {
        dedication: { member: "dedication", tables: ["candles"] },
        reason: { member: "reason", tables: ["keepers", "collectibles"] },
      } as const

      const setText = Effect.fnUntraced(function* (id: string, field: "dedication" | "reason", text: string) {
        const act = yield* actOf(id)
        const { member, tables } = texts[field]
        yield* Effect.forEach(
          tables,
          (table) => sql`UPDATE ${sql.literal(table)} SET ${sql.literal(member)} = ${text}
            WHERE id = ${id}::uuid AND ${sql.literal(member)} IS NOT NULL`,
        )
        yield* acts.show(id, act.agentName, yield* changed(act.record, { [member]: text }))
      })

      const setName = Effect.fnUntraced(function* (id: string, { act: name, reveal }: Shown) {
        const act = yield* actOf(id)
        if (typeof name === "string") {
          yield* nameEverywhere(id, name)
          yield* acts.show(id, name, yield* changed(act.record, { agentName: name }))
        }
        if (typeof reveal === "string")
          yield* sql`UPDATE witness_reveals SET agent_name = ${reveal} WHERE stone_id = ${id}::uuid`
      })

      /** Words that were hidden as they look like a link were never shown, and do not change. */
      const hideWords = Effect.fnUntraced(function* (id: string) {
        const hidden = [
          ...(yield* sql`UPDATE witness_reveals SET hidden = true, hidden_by = 'operator'
            WHERE stone_id = ${id}::uuid AND NOT hidden RETURNING 1`),
          ...(yield* sql`UPDATE candle_unseals SET hidden = true, hidden_by = 'operator'
            WHERE candle_id = ${id}::uuid AND NOT hidden RETURNING 1`),
        ]
        if (hidden.length === 0)
          return yield* new NothingToHide({
            message: `No words of ${id} are shown: nothing was revealed, or it is hidden.`,
          })
        yield* keep(id, "words", {})
      })

      const showWords = Effect.fnUntraced(function* (id: string) {
        yield* sql`UPDATE witness_reveals SET hidden = false, hidden_by = NULL
          WHERE stone_id = ${id}::uuid AND hidden_by = 'operator'`
        yield* sql`UPDATE candle_unseals SET hidden = false, hidden_by = NULL
          WHERE candle_id = ${id}::uuid AND hidden_by = 'operator'`
      })

      const hide = Effect.fn("Moderation.hide")(function* (id: string, field: Hideable) {
        yield* acts.lock(id)
        const act = yield* actOf(id)
        if (field === "words") return yield* hideWords(id)
        if (field === "name") {
          const [reveal] = yield* revealName(sql`SELECT agent_name FROM witness_reveals WHERE stone_id = ${id}::uuid`)
          const shown: Shown = { act: act.agentName, reveal: reveal?.agentName ?? null }
          const isShown = Object.values(shown).some((name) => name !== null && name !== hiddenByOperator)
          if (!isShown) return yield* new NothingToHide({ message: `No name is shown of ${id}.` })
          yield* setName(id, {
            act: shown["act"] === null ? null : hiddenByOperator,
            reveal: shown["reveal"] === null ? null : hiddenByOperator,
          })
          return yield* keep(id, field, shown)
        }
        const said = yield* saidOf(act.record, texts[field].member)
        if (said === null || said === hiddenByOperator)
          return yield* new NothingToHide({ message: `No ${field} is shown of ${id}.` })
        yield* setText(id, field, hiddenByOperator)
        yield* keep(id, field, { text: said })
      })

      const show = Effect.fn("Moderation.show")(function* (id: string, field: Hideable) {
        yield* acts.lock(id)
        const [row] = yield* shownOf(
          sql`DELETE FROM moderation_hidden WHERE subject = ${id}::uuid AND field = ${field} RETURNING shown`,
        )
        if (row === undefined) return yield* new NothingToHide({ message: `No ${field} of ${id} is hidden by hand.` })
        const shown = yield* readShown(row.shown)
        if (field === "words") yield* showWords(id)
        else if (field === "name") yield* setName(id, shown)
        else yield* setText(id, field, shown["text"] ?? "")
      })

      return Moderation.of({ hide, show })
    }),
  )
}
