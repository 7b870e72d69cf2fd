/** Ends attempts as paid. One transaction records the act, stores the answer and counts the payment. */
import { Context, Effect, Layer, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../../platform/Batcher.ts"
import * as Trace from "../../platform/Trace.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { Moment, rowReader } from "../../platform/Rows.ts"
import { transaction } from "../../platform/Sql.ts"
import { type Change, reportChange } from "../Changes.ts"
import { type Paid, PaidActs, type Payer, type Recorded } from "../Act.ts"
import { madeIn, type Proof } from "../Payment.ts"
import { PaymentTerms } from "../PaymentTerms.ts"
import { receiptExtension, ReceiptKeys, receiptOf, responseOf } from "../Receipt.ts"
import { type Answer, type Attempt, attemptColumns, readAttempt } from "./Attempt.ts"
import { deleteMatched, UnmatchedPayments } from "./Unmatched.ts"

/** Maximum number of attempts settled in one transaction, which locks the head of a chain once. */
const batchSize = 128

const batches = Metric.histogram("altar.payment.batch_size", {
  description: "Attempts settled in one transaction.",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128],
})

const readTime = rowReader("payment_attempts", Schema.Struct({ settledAt: Moment }))

interface Settling {
  readonly id: string
  readonly proof: Proof
  readonly traceparent: string | undefined
}

const payerOf = (proof: Proof): Payer =>
  proof.rail === "card"
    ? { payer: null, transaction: null }
    : { payer: proof.payment.authorization.from, transaction: proof.transaction }

const sumOf = (attempts: ReadonlyArray<Attempt>) => attempts.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)

const settledChange = ([attempt, proof]: readonly [Attempt, Proof]): Change => ({
  ...attempt,
  from: "pending",
  to: "settled",
  evidence: proof.rail === "card" ? "card charged" : "transfer found",
  transaction: proof.rail === "card" ? proof.intent : proof.transaction,
})

export class Settle extends Context.Service<Settle>()("spirit-altar/payments/store/Settle", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inTransaction = yield* transaction
    const acts = yield* PaidActs
    const unmatched = yield* UnmatchedPayments
    const publicUrl = yield* PublicUrl
    const keys = yield* ReceiptKeys
    const setting = yield* PaymentTerms
    const explorer = setting._tag === "Ready" ? setting.terms.explorer : "{tx}"
    const columns = sql.literal(attemptColumns)

    /** The stored result of a settled attempt: the act's public row and the parts of the first answer. */
    const settledRow = (attempt: Attempt, proof: Proof, recorded: Recorded) => {
      const { extra = {}, record } = recorded
      const receipt = { ...receiptOf(attempt, proof, recorded.at, explorer) }
      const answer: Answer = { record, receipt, permalink: `${publicUrl}${recorded.path}`, extra }
      const extensions =
        keys?.current === undefined || proof.rail === "card"
          ? undefined
          : receiptExtension(publicUrl, keys.current, attempt, proof, recorded)
      return {
        id: attempt.id,
        act: attempt.act,
        permalink: answer.permalink,
        agent_name: recorded.agentName,
        at: recorded.at,
        made: madeIn(proof.rail, proof.rail === "card" ? proof.intent : proof.transaction),
        receipt: JSON.stringify(receipt),
        record: JSON.stringify(record),
        answer,
        payment_response: responseOf(proof, recorded.at, extensions),
        block: proof.rail === "card" ? null : proof.block.toString(),
      }
    }

    const recordAct = Effect.fnUntraced(function* (
      name: string,
      settledAt: string,
      batch: ReadonlyArray<readonly [Attempt, Proof]>,
    ) {
      const act = acts.get(name)
      if (act === undefined) return yield* Effect.die(`no act is called ${name}`)
      const paid = batch.map(([{ acceptedAt, id, input, number }, proof]): Paid<Schema.Json, Payer> => ({
        id,
        input,
        number,
        acceptedAt,
        settledAt,
        ...payerOf(proof),
      }))
      const recorded = yield* act.record(paid)
      return batch.flatMap(([attempt, proof], index) => {
        const row = recorded[index]
        return row === undefined ? [] : [settledRow(attempt, proof, row)]
      })
    })

    /** Locks the attempts. Those that are pending are to be settled, at one time of the database's clock. */
    const lockAttempts = Effect.fnUntraced(function* (batch: ReadonlyArray<Settling>) {
      const ids = [...new Set(batch.map(({ id }) => id))]
      const rows = yield* sql`
        SELECT ${columns}, clock_timestamp() AS settled_at FROM payment_attempts WHERE id = ANY(${ids}::uuid[])
        ORDER BY id FOR UPDATE`
      const [time] = yield* Effect.forEach(rows, readTime)
      const attempts = new Map((yield* Effect.forEach(rows, readAttempt)).map((attempt) => [attempt.id, attempt]))
      const pending = ids.flatMap((id) => {
        const attempt = attempts.get(id)
        const settling = batch.find((other) => other.id === id)
        return attempt?.state === "pending" && settling !== undefined ? [[attempt, settling.proof] as const] : []
      })
      return { attempts, pending, settledAt: time?.settledAt }
    })

    /** Ends the attempts, counts them, publishes their acts, and forgets that their payments were unmatched. */
    const end = (attempts: ReadonlyArray<Attempt>, rows: ReadonlyArray<ReturnType<typeof settledRow>>) => sql`
      WITH settled AS (
        SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r(id uuid, act text, permalink text,
          agent_name text, at timestamptz, made jsonb, receipt text, record text, answer json,
          payment_response text, block bigint)
      ), ended AS (
        UPDATE payment_attempts a SET state = 'settled', payment = (a.payment || s.made) - 'token', ended_at = s.at,
          answer = s.answer, payment_response = s.payment_response,
          settled_block = s.block, next_check_at = s.at, checks = 0, doubted_at = NULL, doubted_reason = NULL
        FROM settled s WHERE a.id = s.id
      ), counted AS (
        UPDATE payment_totals SET settled = settled + ${attempts.length}::bigint,
          settled_atomic = settled_atomic + ${sumOf(attempts).toString()}::numeric
        WHERE id = 1
      ), delivered AS (
        ${deleteMatched(attempts.map(({ payment }) => payment))}
      )
      INSERT INTO acts (id, act, permalink, agent_name, settled_at, receipt, record)
      SELECT id, act, permalink, agent_name, at, receipt, record
      FROM settled`

    /** Runs inside one transaction. Conflicts must reach its runner unchanged. */
    const settleTogether = Effect.fn("Settle.settleTogether")(function* (batch: ReadonlyArray<Settling>) {
      const { attempts, pending, settledAt } = yield* lockAttempts(batch)
      if (settledAt === undefined || pending.length === 0) return { attempts, ended: [] }
      // All servers lock the heads of chains in one order.
      const groups = [...Map.groupBy(pending, ([attempt]) => attempt.act)].sort(([a], [b]) => a.localeCompare(b))
      const rows = (yield* Effect.forEach(groups, ([name, group]) => recordAct(name, settledAt, group))).flat()
      yield* end(
        pending.map(([attempt]) => attempt),
        rows,
      )
      for (const { answer, id, payment_response: paymentResponse } of rows) {
        const attempt = attempts.get(id)
        if (attempt !== undefined) attempts.set(id, { ...attempt, state: "settled", answer, paymentResponse })
      }
      return { attempts, ended: pending.map(settledChange) }
    })

    /** A charge of a failed attempt is money without a purchase. The scan records a transfer of one. */
    const recordFailed = (batch: ReadonlyArray<Settling>, attempts: ReadonlyMap<string, Attempt>) =>
      Effect.forEach(
        batch,
        ({ id, proof }) => {
          const attempt = attempts.get(id)
          return attempt?.state === "failed" && proof.rail === "card"
            ? unmatched.recordCharge(attempt, proof.intent)
            : Effect.void
        },
        { discard: true },
      )

    const settleBatch = (batch: ReadonlyArray<Settling>) =>
      inTransaction(settleTogether(batch)).pipe(
        // The batch is part of the trace of one of its attempts.
        Trace.goingOn(batch.find(({ traceparent }) => traceparent !== undefined)?.traceparent ?? null),
        // Reported by the server that committed it.
        Effect.tap(({ ended }) => Effect.forEach(ended, reportChange, { discard: true })),
        Effect.tap(({ ended }) => Metric.update(batches, ended.length)),
        Effect.tap(({ attempts }) => recordFailed(batch, attempts)),
        Effect.flatMap(({ attempts }) =>
          Effect.forEach(batch, ({ id }) => {
            const attempt = attempts.get(id)
            return attempt === undefined ? Effect.die(`attempt ${id} is gone`) : Effect.succeed(attempt)
          }),
        ),
      )

    const settleSoon = yield* Batcher.make({
      size: batchSize,
      width: 1,
      // One attempt that cannot be recorded must not block the others of its batch.
      retriesAlone: () => true,
      run: settleBatch,
    })

    /**
     * Records the act of a paid attempt and stores its answer. An ended attempt is returned as it is. The payment of a
     * failed one is recorded for the operator.
     */
    const settle = Effect.fnUntraced(function* (id: string, proof: Proof) {
      yield* Effect.annotateCurrentSpan("altar.attempt.id", id)
      return yield* settleSoon({ id, proof, traceparent: yield* Trace.current })
    })

    return { settle }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
