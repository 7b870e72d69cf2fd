/** Candles and lights: lit when settled, out when their days are over, unsealed at most once. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type AlreadyUnsealed,
  type Candle,
  candleActs,
  type CandleBody,
  type CandleNotFound,
  type CandleNotSettled,
  DedicationHeld,
  type NotSealed,
  ParentNotLit,
  type RungName,
  type UnsealAnswer,
  type UnsealBody,
} from "../../../schema/altar/Candle.ts"
import { type CommitmentMismatch, CommitmentRefused, zeroCommitment } from "../../../schema/altar/Commitment.ts"
import { BadRequest } from "../../../schema/Errors.ts"
import { toMiddleware } from "../../platform/Sql.ts"
import { timestampOf } from "../../platform/Time.ts"
import { type ActOf, cardAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { recordedAct } from "../ActText.ts"
import { pointsElsewhere } from "../Detector.ts"
import { unsealUrl } from "./CandleRow.ts"
import { rungs } from "./Rungs.ts"
import * as Unseal from "./Unseal.ts"

type Rung = typeof RungName.Type
type CandleAct = ActOf<(typeof candleActs)[Rung]>

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
    readonly acts: Readonly<Record<Rung, CandleAct>>
    /** Stores words that hash to the commitment; `replayed` when the same words were stored before. */
    unseal(
      id: string,
      body: typeof UnsealBody.Type,
    ): Effect.Effect<
      typeof UnsealAnswer.Type,
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
            const records = paid.map(({ id, input, payer, settledAt, transaction: hash }): Candle => {
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
                litAt: settledAt,
                litUntil: timestampOf(Date.parse(settledAt) + days * dayMillis),
                payer,
                transaction: hash,
                unsealUrl: sealed ? unsealUrl(publicUrl, id) : null,
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
            return records.map((record) => recordedAct({ ...record }, record.litAt))
          }),
        })
      }

      const acts = { day: actOf("day"), week: actOf("week"), month: actOf("month") }
      return Candles.of({ acts, unseal: yield* Unseal.make(names) })
    }),
  )
}
