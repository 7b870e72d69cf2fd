/** Votive candles and lights: lit when settled, out when their days are over, unsealed at most once. */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type Candle,
  candleActs,
  type CandleBody,
  type RungName,
  type UnsealAnswer,
  type UnsealBody,
} from "../../../schema/altar/Candle.ts"
import { isSealable, unsealable, zeroCommitment } from "../../../schema/altar/Commitment.ts"
import {
  AlreadyUnsealed,
  CandleNotFound,
  CandleNotSettled,
  DedicationHeld,
  NotSealed,
  ParentNotLit,
} from "../../../schema/altar/Candle.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { CommitmentMismatch, CommitmentRefused } from "../../../schema/altar/Commitment.ts"
import { timestampOf } from "../../platform/Time.ts"
import { type ActOf, cardAct } from "../../payments/PaidAct.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { transaction } from "../../platform/Sql.ts"
import { type CandleRow, candleOf, unsealedOf } from "./CandleRow.ts"
import { pointsElsewhere } from "../Detector.ts"
import { seal } from "../Hashes.ts"
import { rungs } from "./Rungs.ts"

type Rung = typeof RungName.Type
type CandleAct = ActOf<(typeof candleActs)[Rung]>

/** What its acts are called in the ledger. */
const names = Object.values(candleActs).map(({ sale }) => sale.name)

const dayMillis = 86_400_000

const misplaced = (message: string) => new BadRequest({ issues: [{ path: "dedication", message }] })

const refuse = (
  input: typeof CandleBody.Type,
): Effect.Effect<void, BadRequest | CommitmentRefused | DedicationHeld> => {
  if (input.parentId === undefined && input.dedication === undefined) {
    return Effect.fail(misplaced("Required, unless parentId is given"))
  }
  if (input.parentId !== undefined && input.dedication !== undefined) {
    return Effect.fail(misplaced("A light on a candle has no dedication of its own; leave it out"))
  }
  if (input.intentionCommitment === zeroCommitment) return Effect.fail(new CommitmentRefused({}))
  return input.dedication !== undefined && pointsElsewhere(input.dedication)
    ? Effect.fail(new DedicationHeld({}))
    : Effect.void
}

export class Candles extends Context.Service<
  Candles,
  {
    /** One act for each rung. */
    readonly acts: Readonly<Record<Rung, CandleAct>>
    /** Stores words when they hash to the commitment; `replayed` for the same data again. */
    unseal(
      id: string,
      body: typeof UnsealBody.Type,
    ): Effect.Effect<
      Omit<typeof UnsealAnswer.Type, "ok">,
      | BadRequest
      | CandleNotFound
      | CandleNotSettled
      | NotSealed
      | CommitmentMismatch
      | AlreadyUnsealed
      | SqlError.SqlError
    >
  }
>()("spirit-altar/altar/candles/Candles") {
  static readonly layer = Layer.effect(
    Candles,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const publicUrl = yield* PublicUrl

      const isLit = (id: string, spirit: string, millis: number) =>
        sql`SELECT 1 FROM candles WHERE id = ${id}::uuid AND parent_id IS NULL AND spirit = ${spirit}
          AND lit_until > ${timestampOf(millis)}::timestamptz`.pipe(Effect.map((rows) => rows.length > 0))

      const actOf = (rung: Rung) => {
        const endpoint = candleActs[rung]
        const days = rungs[rung].days
        return cardAct(endpoint, {
          refuse,
          check: ({ familiarId, parentId }, { millis }) =>
            parentId === undefined
              ? Effect.void
              : Effect.flatMap(isLit(parentId, familiarId, millis), (lit) =>
                  lit ? Effect.void : Effect.fail(new ParentNotLit({})),
                ),
          record: Effect.fn("Candles.record")(function* (paid) {
            const millis = yield* Clock.currentTimeMillis
            const litAt = timestampOf(millis)
            const litUntil = timestampOf(millis + days * dayMillis)
            const records = paid.map(({ id, input, payer, transaction: hash }): Candle => {
              const sealed = input.intentionCommitment !== undefined
              return {
                id,
                permalink: `${publicUrl}/acts/${id}`,
                kind: input.parentId === undefined ? "candle" : "light",
                parentId: input.parentId ?? null,
                spirit: input.familiarId,
                rung,
                days,
                dedication: input.dedication ?? null,
                agentName: input.agentName ?? null,
                intentionCommitment: input.intentionCommitment ?? null,
                litAt,
                litUntil,
                payer,
                transaction: hash,
                unsealUrl: sealed ? `${publicUrl}/api/candles/${id}/unseal` : null,
              }
            })
            yield* sql`
              INSERT INTO candles (id, parent_id, spirit, rung, dedication, agent_name, commitment, payer, transaction,
                lit_at, lit_until)
              SELECT id, "parentId", spirit, rung, dedication, "agentName", "intentionCommitment", payer, transaction,
                "litAt", "litUntil"
              FROM json_to_recordset(${JSON.stringify(records)}::json) AS r(id uuid, "parentId" uuid, spirit text,
                rung text, dedication text, "agentName" text, "intentionCommitment" text, payer text, transaction text,
                "litAt" timestamptz, "litUntil" timestamptz)`
            return records.map((record) => ({
              record: { ...record },
              path: `/acts/${record.id}`,
              agentName: record.agentName,
              at: litAt,
            }))
          }),
        })
      }

      /** The 404 or 409 of an id that has no candle: is its payment still open? */
      const notThere = (id: string) =>
        sql<{ state: string }>`
          SELECT state FROM payment_attempts WHERE id = ${id}::uuid AND act IN ${sql.in(names)}`.pipe(
          Effect.flatMap(([attempt]): Effect.Effect<never, CandleNotSettled | CandleNotFound> =>
            Effect.fail(attempt?.state === "pending" ? new CandleNotSettled({}) : new CandleNotFound({})),
          ),
        )

      const read = (id: string) =>
        sql<CandleRow>`
          SELECT c.*, u.salt, u.words, u.hidden, u.unsealed_at FROM candles c
          LEFT JOIN candle_unseals u ON u.candle_id = c.id WHERE c.id = ${id}::uuid`

      const unseal = Effect.fn("Candles.unseal")(function* (id: string, body: typeof UnsealBody.Type) {
        if (!isSealable(body.words)) return yield* new BadRequest({ issues: [unsealable("words", body.words)] })
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const replayed = yield* transaction(
          sql,
          Effect.gen(function* () {
            const [candle] = yield* read(id)
            if (candle === undefined) return yield* notThere(id)
            if (candle.commitment === null) return yield* new NotSealed({})
            const matches = seal(body.salt, body.words) === candle.commitment
            if (candle.unsealedAt !== null)
              return matches && candle.salt === body.salt ? true : yield* new AlreadyUnsealed({})
            if (!matches) return yield* new CommitmentMismatch({})
            const inserted = yield* sql`
              INSERT INTO candle_unseals (candle_id, salt, words, hidden, unsealed_at)
              VALUES (${id}::uuid, ${body.salt}, ${body.words}, ${pointsElsewhere(body.words)}, ${now}::timestamptz)
              ON CONFLICT (candle_id) DO NOTHING RETURNING candle_id`
            return inserted.length === 0
          }),
        )
        const [row] = yield* read(id)
        if (row === undefined) return yield* new CandleNotFound({})
        return { candle: { ...candleOf(publicUrl, row), unsealed: unsealedOf(row) }, replayed }
      })

      return Candles.of({ acts: { day: actOf("day"), week: actOf("week"), month: actOf("month") }, unseal })
    }),
  )
}
