/**
 * Hides and restores public texts on an operator's behalf. Hashed values and the payer's stored answer never change;
 * only the public view does, and the original texts are kept for restoring.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { publicActs } from "../payments/store/LedgerSql.ts"
import { rowsOf } from "../platform/Rows.ts"
import { literal } from "../platform/SqlPart.ts"
import { ActTexts } from "./Acts.ts"
import * as HiddenTexts from "./HiddenTexts.ts"
import type { HideableFields } from "./ActText.ts"

/** Nothing was changed; the message says why. */
export class NothingToHide extends Schema.TaggedError<NothingToHide>()("NothingToHide", { message: Schema.String }) {}

const Members = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

const membersOf = (record: string) => Effect.orDie(Schema.decodeEffect(Members)(record))

/** Replaces a member that the record has with a value; the order of members stays. */
const changed = (record: string, member: string, text: string) =>
  Effect.map(membersOf(record), (known) =>
    JSON.stringify((known[member] ?? null) === null ? known : { ...known, [member]: text }),
  )

/** A text member of a record; null when it has none. */
const saidOf = (record: string, member: string) =>
  Effect.map(membersOf(record), ({ [member]: value }) => (typeof value === "string" ? value : null))

const namesOf = rowsOf("revealed words", Schema.Struct({ name: Schema.NullOr(Schema.String) }))

/** An act that is no longer sold: only its public row changes. */
const unsold: HideableFields = { table: "acts", texts: {} }

export class Moderation extends Context.Service<Moderation>()("spirit-altar/altar/Moderation", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const actTexts = yield* ActTexts
    const acts = yield* publicActs
    const hidden = yield* HiddenTexts.make

    const actOf = Effect.fnUntraced(function* (id: string) {
      yield* acts.lock(id)
      const found = yield* acts.find(id)
      if (Option.isNone(found)) return yield* new NothingToHide({ message: `No settled act has the id ${id}.` })
      const { hideable } = actTexts.get(found.value.act) ?? { hideable: unsold }
      return { act: found.value, hideable }
    })
    type Found = Effect.Success<ReturnType<typeof actOf>>

    /** Updates a column of one row; an absent text stays absent. */
    const write = (table: string, key: string, id: string, column: string, text: string) =>
      sql`UPDATE ${literal(table)} SET ${literal(column)} = ${text}
        WHERE ${literal(key)} = ${id}::uuid AND ${literal(column)} IS NOT NULL`

    const setText = Effect.fnUntraced(function* ({ act, hideable }: Found, field: string, text: string) {
      const column = hideable.texts[field]
      if (column !== undefined) yield* write(hideable.table, "id", act.id, column, text)
      yield* acts.show(act, act.agentName, yield* changed(act.record, field, text))
    })

    const setName = Effect.fnUntraced(function* ({ act, hideable }: Found, shown: HiddenTexts.Shown) {
      const { act: name = null, reveal = null } = shown
      const { name: column, table, words } = hideable
      if (name !== null) {
        if (column !== undefined) yield* write(table, "id", act.id, column, name)
        yield* acts.show(act, name, yield* changed(act.record, "agentName", name))
      }
      if (reveal !== null && words?.name !== undefined) yield* write(words.table, words.id, act.id, words.name, reveal)
    })

    const revealedName = ({ act, hideable: { words } }: Found) =>
      words?.name === undefined
        ? Effect.succeed(null)
        : Effect.map(
            namesOf(
              sql`SELECT ${literal(words.name)} AS name FROM ${literal(words.table)} WHERE ${literal(words.id)} = ${act.id}::uuid`,
            ),
            ([row]) => row?.name ?? null,
          )

    /** Words that the detector hid were never shown, and do not change. */
    const hideWords = ({ act, hideable: { words } }: Found) =>
      words === undefined
        ? Effect.succeed([])
        : sql`UPDATE ${literal(words.table)} SET hidden = true, hidden_by = 'operator'
            WHERE ${literal(words.id)} = ${act.id}::uuid AND NOT hidden RETURNING 1`

    const showWords = ({ act, hideable: { words } }: Found) =>
      words === undefined
        ? Effect.void
        : sql`UPDATE ${literal(words.table)} SET hidden = false, hidden_by = NULL
            WHERE ${literal(words.id)} = ${act.id}::uuid AND hidden_by = 'operator'`

    const isShown = (text: string | null) => text !== null && text !== hiddenByOperator

    const hide = Effect.fn("Moderation.hide")(function* (id: string, field: string) {
      const found = yield* actOf(id)
      if (field === "words") {
        if ((yield* hideWords(found)).length > 0) return yield* hidden.keep(id, field, {})
        return yield* new NothingToHide({
          message: `No words of ${id} are shown: nothing was revealed, or they are hidden.`,
        })
      }
      const shown =
        field === "name"
          ? { act: found.act.agentName, reveal: yield* revealedName(found) }
          : { text: field in found.hideable.texts ? yield* saidOf(found.act.record, field) : null }
      if (!Object.values(shown).some(isShown))
        return yield* new NothingToHide({ message: `No ${field} is shown of ${id}.` })
      const veiled = (text: string | null) => (text === null ? null : hiddenByOperator)
      if ("text" in shown) yield* setText(found, field, hiddenByOperator)
      else yield* setName(found, { act: veiled(shown.act), reveal: veiled(shown.reveal) })
      yield* hidden.keep(id, field, shown)
    })

    const show = Effect.fn("Moderation.show")(function* (id: string, field: string) {
      const found = yield* actOf(id)
      const shown = yield* hidden.take(id, field)
      if (shown === undefined) return yield* new NothingToHide({ message: `No ${field} of ${id} is hidden by hand.` })
      if (field === "words") yield* showWords(found)
      else if (field === "name") yield* setName(found, shown)
      else yield* setText(found, field, shown["text"] ?? "")
    })

    return {
      /** Runs in the caller's transaction; `field` is `name`, `words` (the revealed ones), or a public text's name. */
      hide,
      show,
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
