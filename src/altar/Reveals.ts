/** Revealed words of stones, candles and lights: one row form, one public form, re-hashed before they are shown. */
import { Context, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Reveal, RevealBroken } from "../../schema/altar/Reveal.ts"
import { rowsOf } from "../platform/Rows.ts"
import { bounded, part } from "../platform/Sql.ts"
import { linksElsewhere } from "./Detector.ts"
import { seal } from "./Hashes.ts"
import { revealed } from "./Hidden.ts"
import { log } from "../platform/LogMessages.ts"

const Text = Schema.NullOr(Schema.String)

/** The columns of a reveal, all null while nothing is revealed. */
export const revealColumns = {
  revealText: Text,
  revealSalt: Text,
  revealHidden: Schema.NullOr(Schema.Boolean),
  revealHiddenBy: Text,
  revealAgentName: Text,
  revealedAt: Text,
}

/** The commitment that a reveal `r` of any kind opens. */
export const commitmentOfReveal = part`(SELECT commitment FROM witness_stones WHERE id = r.id
  UNION ALL SELECT commitment FROM candles WHERE id = r.id) AS commitment`

const Revealed = Schema.Struct(revealColumns)
type Revealed = typeof Revealed.Type

const Sealed = Schema.Struct({ ...Revealed.fields, id: Schema.String, commitment: Text })
type Sealed = typeof Sealed.Type

/** The public side of a reveal. Hidden words keep their salt private, and a salt that holds a link hides its words. */
export const revealOf = (row: Revealed): typeof Reveal.Type | null => {
  if (row.revealedAt === null || row.revealHidden === null) return null
  const hidden = row.revealHidden || linksElsewhere(row.revealSalt ?? "")
  return {
    text: hidden ? null : row.revealText,
    salt: hidden ? null : row.revealSalt,
    hidden,
    ...(row.revealHiddenBy === "operator" ? { hiddenBy: "operator" as const } : {}),
    agentName: row.revealAgentName,
    revealedAt: row.revealedAt,
  }
}

const holds = ({ commitment, revealSalt, revealText }: Omit<Sealed, "revealedAt">) =>
  revealText === null || (revealSalt !== null && seal(revealSalt, revealText) === commitment)

export class Reveals extends Context.Service<Reveals>()("spirit-altar/altar/Reveals", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const last = yield* Ref.make(Option.none<string>())
    const sealedOf = rowsOf("reveals", Sealed)

    const check = (rows: ReadonlyArray<Omit<Sealed, "revealedAt">>) => {
      // Words that an operator hid are not shown, so hiding a broken reveal restores its lists.
      const broken = rows.find((row) => row.revealHiddenBy !== "operator" && !holds(row))
      if (broken === undefined) return Effect.void
      const error = new RevealBroken({
        message: `The words revealed under ${broken.id} do not hash to the commitment that was sealed, so they are not shown. The operator was alarmed. This request charged nothing.`,
      })
      // Only the first finding raises the alarm, because any reader can request the broken reveal again.
      return Ref.getAndSet(last, Option.some(broken.id)).pipe(
        Effect.tap((previous) =>
          Option.contains(previous, broken.id) ? Effect.void : log("reveal broken", { act: broken.id }),
        ),
        Effect.andThen(Effect.die(error)),
      )
    }

    const state = Effect.gen(function* () {
      const broken = yield* Ref.get(last)
      if (Option.isNone(broken)) return
      const rows = bounded(sql`
        SELECT r.id, ${commitmentOfReveal}, ${revealed("a")} FROM reveals r JOIN acts a ON a.id = r.id
        WHERE r.id = ${broken.value}::uuid`)
      yield* check(yield* sealedOf(rows))
      yield* Ref.set(last, Option.none())
    })

    return {
      /** Dies with `RevealBroken` at the first row whose words do not hash to its commitment; skips operator-hidden. */
      check,
      /** Re-hashes the reveal that was last found broken, and dies if it still is. */
      state,
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
