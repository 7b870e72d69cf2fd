/**
 * Hides and shows public members of acts on an operator's behalf. The rows keep what they say: `hidden` names the
 * members, and each read puts a placeholder in their place.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../platform/Rows.ts"
import { literal } from "../platform/Sql.ts"
import { ActTexts } from "./Acts.ts"
import type { HideableFields } from "./ActText.ts"
import { hiddenColumn } from "./Hidden.ts"

/** Nothing was changed; the message says why. */
export class NothingToHide extends Schema.TaggedError<NothingToHide>()("NothingToHide", { message: Schema.String }) {}

const actsOf = rowsOf(
  "acts",
  Schema.Struct({
    act: Schema.String,
    agentName: Schema.NullOr(Schema.String),
    record: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)),
    hidden: hiddenColumn,
  }),
)

const wordsOf = rowsOf("reveals", Schema.Struct({ name: Schema.NullOr(Schema.String), hidden: Schema.Boolean }))

/** An act that is no longer sold has no table to search. */
const unsold: HideableFields = { table: "acts", texts: {} }

export class Moderation extends Context.Service<Moderation>()("spirit-altar/altar/Moderation", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const actTexts = yield* ActTexts

    const actOf = Effect.fnUntraced(function* (id: string) {
      const [act] = yield* actsOf(
        sql`SELECT act, agent_name, record, hidden FROM acts WHERE id = ${id}::uuid FOR UPDATE`,
      )
      if (act === undefined) return yield* new NothingToHide({ message: `No settled act has the id ${id}.` })
      return { ...act, hideable: actTexts.get(act.act)?.hideable ?? unsold }
    })

    const revealed = (id: string) => wordsOf(sql`SELECT agent_name AS name, hidden FROM reveals WHERE id = ${id}::uuid`)

    /** Whether readers see the member while no operator hides it. The detector's own finds are never shown. */
    const isSaid = Effect.fnUntraced(function* (
      id: string,
      { agentName, hideable, record }: Effect.Success<ReturnType<typeof actOf>>,
      member: string,
    ) {
      if (member in hideable.texts) return typeof record[member] === "string"
      const [words] = yield* revealed(id)
      if (member === "words") return words?.hidden === false
      return member === "agentName" && (agentName ?? words?.name ?? null) !== null
    })

    const hideOnly = (id: string, { table }: HideableFields, hidden: ReadonlyArray<string>) =>
      Effect.forEach(
        new Set(["acts", table]),
        (name) => sql`UPDATE ${literal(name)} SET hidden = ${hidden}::text[] WHERE id = ${id}::uuid`,
        { discard: true },
      )

    const memberOf = (field: string) => (field === "name" ? "agentName" : field)

    const hide = Effect.fn("Moderation.hide")(function* (id: string, field: string) {
      const act = yield* actOf(id)
      const member = memberOf(field)
      if (act.hidden.includes(member) || !(yield* isSaid(id, act, member)))
        return yield* new NothingToHide({
          message:
            field === "words"
              ? `No words of ${id} are shown: nothing was revealed, or they are hidden.`
              : `No ${field} is shown of ${id}.`,
        })
      yield* hideOnly(id, act.hideable, [...act.hidden, member])
    })

    const show = Effect.fn("Moderation.show")(function* (id: string, field: string) {
      const { hidden, hideable } = yield* actOf(id)
      const rest = hidden.filter((member) => member !== memberOf(field))
      if (rest.length === hidden.length)
        return yield* new NothingToHide({ message: `No ${field} of ${id} is hidden by hand.` })
      yield* hideOnly(id, hideable, rest)
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
