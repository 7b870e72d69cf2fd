/** Candles and lights: lit when settled, out when their days are over, unsealed at most once. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  AlreadyUnsealed,
  candleActs,
  type CandleBody,
  CandleNotFound,
  CandleNotSettled,
  DedicationHeld,
  NotSealed,
  ParentNotLit,
  type RungName,
  type UnsealBody,
} from "../../../schema/altar/Candle.ts"
import { CommitmentRefused } from "../../../schema/altar/Commitment.ts"
import { zeroCommitment } from "../../../schema/altar/Recipe.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { toMiddleware } from "../../platform/Sql.ts"
import { timestampOf } from "../../platform/Time.ts"
import { cardAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { recordedAct } from "../ActText.ts"
import { pointsElsewhere } from "../Detector.ts"
import * as Opening from "../Opening.ts"
import { Reveals } from "../Reveals.ts"
import { candleOf, CandleRow, rungs, unsealedOf } from "./CandleRow.ts"
import { candleJson } from "./CandleSql.ts"

type Rung = typeof RungName.Type

const candlesOf = rowsOf("candles", Schema.Struct({ candle: CandleRow }))

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

export class Candles extends Context.Service<Candles>()("spirit-altar/altar/candles/Candles", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl

    const isLit = (id: string, spirit: string, millis: number) =>
      sql`SELECT 1 FROM candles WHERE id = ${id}::uuid AND parent_id IS NULL AND spirit = ${spirit}
        AND lit_until > ${timestampOf(millis)}::timestamptz`.pipe(
        Effect.map((rows) => rows.length > 0),
        toMiddleware,
      )

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
          const records = paid.map(({ id, input, payer, settledAt, transaction: hash }) =>
            candleOf(publicUrl, {
              id,
              parentId: input.parentId ?? null,
              spirit: input.familiarId,
              rung,
              dedication: input.dedication ?? null,
              agentName: input.agentName ?? null,
              commitment: input.intentionCommitment ?? null,
              payer,
              transaction: hash,
              litAt: settledAt,
              litUntil: timestampOf(Date.parse(settledAt) + days * dayMillis),
            }),
          )
          yield* sql`
            INSERT INTO candles (id, parent_id, spirit, rung, dedication, agent_name, commitment, payer, transaction,
              lit_at, lit_until)
            SELECT id, "parentId", spirit, rung, dedication, "agentName", "intentionCommitment", payer, transaction,
              "litAt", "litUntil"
            FROM json_to_recordset(${JSON.stringify(records)}::json) AS r(id uuid, "parentId" uuid, spirit text,
              rung text, dedication text, "agentName" text, "intentionCommitment" text, payer text, transaction text,
              "litAt" timestamptz, "litUntil" timestamptz)`
          return records.map((record) => recordedAct({ ...record }, record.litAt))
        }),
      })
    }

    const acts = { day: actOf("day"), week: actOf("week"), month: actOf("month") }
    const reveals = yield* Reveals
    const open = yield* Opening.make<CandleNotFound | CandleNotSettled | NotSealed | AlreadyUnsealed>({
      table: "candles",
      acts: Object.values(candleActs).map(({ sale }) => sale.name),
      member: "words",
      unknown: () => new CandleNotFound({}),
      unsettled: () => new CandleNotSettled({}),
      unsealed: () => new NotSealed({}),
      already: () => new AlreadyUnsealed({}),
    })

    const rowOf = (id: string) =>
      Effect.map(
        candlesOf(sql`
          SELECT ${candleJson()} AS candle FROM candles c
          LEFT JOIN reveals r ON r.id = c.id WHERE c.id = ${id}::uuid`),
        ([row]) => row?.candle,
      )

    /** Stores words that hash to the commitment; `replayed` when the same words were stored before. */
    const unseal = Effect.fn("Candles.unseal")(function* (id: string, body: typeof UnsealBody.Type) {
      const isFirst = yield* open(id, { salt: body.salt, text: body.words })
      const row = yield* rowOf(id)
      if (row === undefined) return yield* new CandleNotFound({})
      yield* reveals.check([row])
      return {
        ok: true as const,
        candle: { ...candleOf(publicUrl, row), unsealed: unsealedOf(row) },
        replayed: !isFirst,
      }
    })

    return { acts, unseal }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
