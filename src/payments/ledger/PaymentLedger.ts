/** Every paid attempt on disk: claimed once, ended once, answered with the same bytes for ever. */
import { randomUUID } from "node:crypto"
import { Clock, Context, Deferred, Effect, Layer, Option, Queue, type Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import type { Hex } from "viem"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { retryConflicts, transaction } from "../../platform/Sql.ts"
import { type Attempt, type AttemptRow, type Doubt, doubtAge, fromRow } from "./Attempt.ts"
import { timestampOf } from "../../platform/Time.ts"
import { type ClaimConflict, type Claims, type Paid, PaidActs, type Payer, type Recorded } from "../PaidAct.ts"
import { claimOf, columnsOf, type Payment, type Proof } from "../Payment.ts"
import { PaymentTerms } from "../PaymentTerms.ts"
import type { Purse } from "./Purses.ts"
import { receiptOf, responseOf } from "../Receipts.ts"

export interface NewAttempt {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly act: string
  readonly url: string
  readonly input: Schema.Json
  readonly amountAtomic: bigint
  readonly payment: Payment
  /** The x402 payload as sent; empty for a card. */
  readonly payload: string
  readonly claims: Claims
  /** What its wallet can pay with; absent for a card, and for what is paid already. */
  readonly purse?: Purse | undefined
  readonly acceptedAtMillis: number
  /** Milliseconds after which another server may look at it. */
  readonly leaseMillis: number
}

/** What stands under a key, and which of the claims are held by others. */
export interface Standing {
  readonly attempt: Option.Option<Attempt>
  readonly losses: ReadonlyArray<ClaimConflict>
  readonly paymentBound: boolean
}

/** A payment of a wallet that may still leave its balance, or has just left it. */
export interface InFlight {
  readonly nonce: Hex
  readonly amountAtomic: bigint
}

export type ClaimOutcome =
  | { readonly _tag: "Claimed"; readonly attempt: Attempt }
  | { readonly _tag: "Lost"; readonly standing: Standing }
  /** The wallet has too much in flight for its purse, or too many. */
  | { readonly _tag: "Overdrawn"; readonly tooMany: boolean; readonly inFlight: ReadonlyArray<InFlight> }

type LedgerError = SqlError.SqlError | Schema.SchemaError

/** What a look that ended nothing leaves for the next one. */
export interface Look {
  /** What the outcome hangs on: a transaction or an intent. */
  readonly reference: Option.Option<string>
  /** What a facilitator refused it with just now; null when somebody was asked and did not, absent when nobody was. */
  readonly refusal?: string | null | undefined
  /** Why it fails if the next look says the same; null when it is open, absent when nobody could be asked. */
  readonly doubt?: string | null | undefined
}

/** Attempts settled together in one transaction; the head of a chain is locked once for all of them. */
const batchSize = 128

/** Attempts of one wallet that may be pending at once. */
const pendingAtMost = 64

/** Milliseconds by which servers' clocks may differ: what settled so long before a balance was read may not be in it. */
const clockSkew = 60_000

interface Settling {
  readonly id: string
  readonly proof: Proof
  readonly done: Deferred.Deferred<Attempt, LedgerError>
}

export class PaymentLedger extends Context.Service<
  PaymentLedger,
  {
    /** One look: the attempt under a key, and whether the claims are free. */
    standing(key: string, claims: Claims, payment?: Payment): Effect.Effect<Standing, SqlError.SqlError>
    find(key: string): Effect.Effect<Option.Option<Attempt>, SqlError.SqlError>
    /** Writes the intent and takes key, payment and slots together, or takes nothing. */
    claim(attempt: NewAttempt): Effect.Effect<ClaimOutcome, SqlError.SqlError>
    /** Records the act of a paid attempt and stores its answer; a settled attempt is returned as it stands. */
    settle(id: string, proof: Proof): Effect.Effect<Attempt, LedgerError>
    /**
     * Ends an attempt that was not and cannot be paid, and releases what it held; with a doubt, only while that is what
     * the look before left.
     */
    fail(id: string, reason: string, doubt?: Doubt): Effect.Effect<Attempt, SqlError.SqlError>
    /** The same for what our relayer never sent: only while no broadcast is noted, by whomever. */
    failUnsent(id: string, reason: string): Effect.Effect<Attempt, SqlError.SqlError>
    /** Notes that the outcome is still open, what this look left, and when to look again. */
    defer(id: string, look: Look, untilMillis: number): Effect.Effect<void, SqlError.SqlError>
    /** Leases attempts that are to be looked at before `beforeMillis`. */
    due(
      limit: number,
      beforeMillis: number,
      leaseMillis: number,
    ): Effect.Effect<ReadonlyArray<Attempt>, SqlError.SqlError>
    readonly pending: Effect.Effect<number, SqlError.SqlError>
    /** Settled acts whose transfer was reorganised away for good, and that no operator has acknowledged. */
    readonly lost: Effect.Effect<number, SqlError.SqlError>
  }
>()("spirit-altar/payments/ledger/PaymentLedger") {
  static readonly layer = Layer.effect(
    PaymentLedger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const acts = yield* PaidActs
      const publicUrl = yield* PublicUrl
      const setting = yield* PaymentTerms
      const explorer = setting._tag === "Ready" ? setting.terms.explorer : "{tx}"
      const queue = yield* Queue.unbounded<Settling>()

      const columns = sql.literal(
        ["id", "idempotency_key", "fingerprint", "act", "url", "input", "network", "asset", "pay_to", "payer", "nonce"]
          .concat(["amount_atomic::text AS amount_atomic", "valid_after::text AS valid_after", "valid_before"])
          .concat(["signature", "from_block", "pool_number", "state", "reason", "transaction", "accepted_at"])
          .concat(["rail", "checks", "answer", "payment_response", "refusal", "doubted_reason", "doubted_at", doubtAge])
          .join(", "),
      )

      /** A card's token is kept as long as it is needed, and no longer. */
      const keptSignature = sql.literal("CASE WHEN rail = 'card' THEN '' ELSE signature END")

      const standing: PaymentLedger["Service"]["standing"] = Effect.fn("PaymentLedger.standing")(
        function* (key, claims, payment) {
          const bound = payment === undefined ? "" : claimOf(payment)
          const names = bound === "" ? claims.slots : [...claims.slots, bound]
          // A list of fixed length keeps one plan; an array would be planned anew each time.
          const held =
            names.length === 0
              ? sql.literal("NULL::json")
              : sql`(SELECT json_agg(json_build_object('name', c.name, 'settled', o.state = 'settled') ORDER BY c.name)
                  FROM payment_claims c JOIN payment_attempts o ON o.id = c.attempt_id WHERE c.name IN ${sql.in(names)})`
          const rows = yield* sql<
            AttemptRow & {
              readonly held: ReadonlyArray<{ readonly name: string; readonly settled: boolean }> | null
              readonly taken: number | null
            }
          >`
            SELECT a.*, ${held} AS held,
              (SELECT highest - cardinality(released) FROM payment_pools WHERE name = ${claims.pool?.name ?? ""}) AS taken
            FROM (SELECT 1) AS one
            LEFT JOIN (SELECT ${columns} FROM payment_attempts WHERE idempotency_key = ${key}) AS a ON true`
          const row = rows[0]
          const taken = row?.held ?? []
          const losses = taken.flatMap((claim): ReadonlyArray<ClaimConflict> =>
            claim.name === bound ? [] : [{ _tag: "Slot", name: claim.name, settled: claim.settled }],
          )
          const full = claims.pool !== undefined && (row?.taken ?? 0) >= claims.pool.capacity
          return {
            attempt: row === undefined || row.id === null ? Option.none() : Option.some(fromRow(row)),
            losses: full ? [...losses, { _tag: "Pool", name: claims.pool.name } as const] : losses,
            paymentBound: taken.some((claim) => claim.name === bound),
          }
        },
      )

      const find = Effect.fn("PaymentLedger.find")(function* (key: string) {
        const rows = yield* sql<AttemptRow>`SELECT ${columns} FROM payment_attempts WHERE idempotency_key = ${key}`
        return Option.map(Option.fromNullishOr(rows[0]), fromRow)
      })

      const byId = (id: string) =>
        sql<AttemptRow>`SELECT ${columns} FROM payment_attempts WHERE id = ${id}::uuid`.pipe(
          Effect.flatMap((rows) =>
            rows[0] === undefined ? Effect.die(`attempt ${id} is gone`) : Effect.succeed(fromRow(rows[0])),
          ),
        )

      const insert = Effect.fnUntraced(function* (attempt: NewAttempt) {
        const { claims, payment } = attempt
        const paid = columnsOf(payment)
        const pool = claims.pool?.name ?? null
        const names = [...claims.slots, claimOf(payment)].sort()
        // The wallet's row is locked before its payments are counted, so two claims never count past each other.
        const fits =
          attempt.purse === undefined
            ? sql`SELECT true AS fits`
            : sql`SELECT payment_fits(name, ${attempt.amountAtomic.toString()}::numeric,
                ${attempt.purse.balanceAtomic.toString()}::numeric, ${sinceOf(attempt.purse)}::timestamptz,
                ${pendingAtMost}::int) AS fits FROM payer`
        return yield* sql<AttemptRow>`
          WITH payer AS (
            INSERT INTO payment_payers AS p (name) SELECT ${paid.payer}::text WHERE ${attempt.purse !== undefined}::boolean
            ON CONFLICT (name) DO UPDATE SET name = p.name RETURNING name
          ), purse AS MATERIALIZED (
            ${fits}
          ), drawn AS (
            INSERT INTO payment_pools AS p (name, drawn, highest)
            SELECT ${pool}::text, 1, 1 WHERE ${pool}::text IS NOT NULL AND ${claims.pool?.capacity ?? 0}::int > 0
              AND (SELECT fits FROM purse)
            ON CONFLICT (name) DO UPDATE SET
              drawn = CASE WHEN cardinality(p.released) > 0 THEN p.released[1] ELSE p.highest + 1 END,
              highest = CASE WHEN cardinality(p.released) > 0 THEN p.highest ELSE p.highest + 1 END,
              released = p.released[2:]
            WHERE cardinality(p.released) > 0 OR p.highest < ${claims.pool?.capacity ?? 0}::int
            RETURNING drawn
          ), attempt AS (
            INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, rail, network, asset, pay_to,
              payer, nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, transaction, pool,
              pool_number, state, accepted_at, next_check_at)
            SELECT ${randomUUID()}::uuid, ${attempt.idempotencyKey}, ${attempt.fingerprint}, ${attempt.act},
              ${attempt.url}, ${JSON.stringify(attempt.input)}, ${paid.rail}, ${paid.network}, ${paid.asset},
              ${paid.payTo}, ${paid.payer}, ${paid.nonce}, ${attempt.amountAtomic.toString()}::numeric,
              ${paid.validAfter}::numeric, ${paid.validBefore}::bigint,
              ${paid.signature}, ${attempt.payload}, ${paid.fromBlock}::bigint, ${paid.transaction}::text, ${pool}::text,
              (SELECT drawn FROM drawn), 'pending', ${timestampOf(attempt.acceptedAtMillis)}::timestamptz,
              ${timestampOf(attempt.acceptedAtMillis + attempt.leaseMillis)}::timestamptz
            WHERE (SELECT fits FROM purse) AND (${pool}::text IS NULL OR EXISTS (SELECT 1 FROM drawn))
            RETURNING ${columns}
          ), held AS (
            INSERT INTO payment_claims (name, attempt_id)
            SELECT name, attempt.id FROM attempt, unnest(${names}::text[]) AS name
          )
          SELECT * FROM attempt`
      }, retryConflicts)

      /** Why a claim that lost nothing to others was not made; none when that is over by now. */
      const overdraft = Effect.fnUntraced(function* ({ amountAtomic, payment, purse }: NewAttempt) {
        if (purse === undefined) return Option.none<ClaimOutcome>()
        const { payer } = columnsOf(payment)
        const rows = yield* sql<{ readonly nonce: Hex; readonly amountAtomic: string; readonly state: string }>`
          SELECT nonce, amount_atomic::text AS amount_atomic, state FROM payment_attempts
          WHERE payer = ${payer} AND state = 'pending'
          UNION ALL (
            SELECT nonce, amount_atomic::text, state FROM payment_attempts
            WHERE lower(payer) = ${payer} AND state = 'settled' AND ended_at > ${sinceOf(purse)}::timestamptz
            ORDER BY ended_at DESC LIMIT 64
          )`
        const inFlight = rows.map((row): InFlight => ({ nonce: row.nonce, amountAtomic: BigInt(row.amountAtomic) }))
        const tooMany = rows.filter(({ state }) => state === "pending").length >= pendingAtMost
        const total = inFlight.reduce((sum, one) => sum + one.amountAtomic, amountAtomic)
        return tooMany || total > purse.balanceAtomic
          ? Option.some<ClaimOutcome>({ _tag: "Overdrawn", tooMany, inFlight })
          : Option.none()
      })

      const claim: PaymentLedger["Service"]["claim"] = Effect.fn("PaymentLedger.claim")(function* (attempt) {
        const rows = yield* insert(attempt).pipe(
          Effect.catchIf(
            (error) => error.reason._tag === "UniqueViolation",
            () => Effect.succeed([]),
          ),
        )
        if (rows[0] !== undefined) return { _tag: "Claimed", attempt: fromRow(rows[0]) }
        const found = yield* standing(attempt.idempotencyKey, attempt.claims, attempt.payment)
        const isLost = Option.isSome(found.attempt) || found.paymentBound || found.losses.length > 0
        const overdrawn = isLost ? Option.none() : yield* overdraft(attempt)
        return Option.getOrElse(overdrawn, () => ({ _tag: "Lost" as const, standing: found }))
      })

      /** What is stored when an attempt settles: the act's public row and the exact first answer. */
      const settledRow = (attempt: Attempt, proof: Proof, recorded: Recorded) => {
        const receipt = receiptOf(attempt, proof, recorded.at, explorer)
        const permalink = `${publicUrl}${recorded.path}`
        return {
          id: attempt.id,
          act: attempt.act,
          permalink,
          agent_name: recorded.agentName,
          at: recorded.at,
          transaction: proof.rail === "card" ? proof.intent : proof.transaction,
          receipt: JSON.stringify(receipt),
          record: JSON.stringify(recorded.record),
          answer: JSON.stringify({
            ok: true,
            record: recorded.record,
            receipt,
            permalink,
            ...recorded.extra,
            replayed: false,
          }),
          payment_response: responseOf(proof, recorded.at),
          block: proof.rail === "card" ? null : proof.block.toString(),
        }
      }

      const recordAct = Effect.fnUntraced(function* (name: string, batch: ReadonlyArray<readonly [Attempt, Settling]>) {
        const act = acts.get(name)
        if (act === undefined) return yield* Effect.die(`no act is called ${name}`)
        const paid = batch.map(([attempt, settling]): Paid<Schema.Json, Payer> => ({
          id: attempt.id,
          input: attempt.input,
          number: attempt.number,
          ...payerOf(settling.proof),
          acceptedAt: attempt.acceptedAt,
        }))
        const recorded = yield* act.record(paid)
        return batch.flatMap(([attempt, settling], index) => {
          const one = recorded[index]
          return one === undefined ? [] : [settledRow(attempt, settling.proof, one)]
        })
      })

      const settleTogether = Effect.fn("PaymentLedger.settleTogether")(function* (batch: ReadonlyArray<Settling>) {
        const ids = [...new Set(batch.map((settling) => settling.id))]
        const locked = yield* sql<AttemptRow>`
          SELECT ${columns} FROM payment_attempts WHERE id = ANY(${ids}::uuid[]) ORDER BY id FOR UPDATE`
        const standings = new Map(locked.map((row) => [row.id, fromRow(row)]))
        const open = ids.flatMap((id) => {
          const attempt = standings.get(id)
          const settling = batch.find((one) => one.id === id)
          return attempt?.state === "pending" && settling !== undefined ? [[attempt, settling] as const] : []
        })
        if (open.length > 0) {
          // Every server takes the heads of chains in one order.
          const groups = [...Map.groupBy(open, ([attempt]) => attempt.act)].sort(([a], [b]) => a.localeCompare(b))
          const rows = (yield* Effect.forEach(groups, ([name, group]) => recordAct(name, group))).flat()
          yield* sql`
            WITH settled AS (
              SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r(id uuid, act text, permalink text,
                agent_name text, at timestamptz, transaction text, receipt text, record text, answer text,
                payment_response text, block bigint)
            ), ended AS (
              UPDATE payment_attempts a SET state = 'settled', transaction = s.transaction, ended_at = s.at,
                answer = s.answer, payment_response = s.payment_response, signature = ${keptSignature},
                settled_block = s.block, next_check_at = s.at, doubted_at = NULL, doubted_reason = NULL
              FROM settled s WHERE a.id = s.id
            ), counted AS (
              UPDATE payment_totals SET settled = settled + ${open.length}::bigint,
                settled_atomic = settled_atomic + ${sumOf(open.map(([attempt]) => attempt)).toString()}::numeric
              WHERE id = 1
            )
            INSERT INTO acts (id, act, permalink, agent_name, settled_at, receipt, record)
            SELECT id, act, permalink, agent_name, at, receipt, record FROM settled`
          for (const row of rows) {
            const attempt = standings.get(row.id)
            if (attempt === undefined) continue
            standings.set(row.id, {
              ...attempt,
              state: "settled",
              answer: row.answer,
              paymentResponse: row.payment_response,
            })
          }
        }
        return standings
      })

      const settleBatch = (batch: ReadonlyArray<Settling>): Effect.Effect<void> =>
        transaction(sql, settleTogether(batch)).pipe(
          Effect.matchCauseEffect({
            onSuccess: (standings) =>
              Effect.forEach(
                batch,
                ({ done, id }) => {
                  const attempt = standings.get(id)
                  return attempt === undefined
                    ? Deferred.die(done, `attempt ${id} is gone`)
                    : Deferred.succeed(done, attempt)
                },
                { discard: true },
              ),
            // One attempt that cannot be recorded must not hold up its neighbours.
            onFailure: (cause) =>
              batch.length > 1
                ? Effect.forEach(batch, (one) => settleBatch([one]), { discard: true })
                : Effect.forEach(batch, ({ done }) => Deferred.failCause(done, cause), { discard: true }),
          }),
        )

      yield* Queue.takeBetween(queue, 1, batchSize).pipe(Effect.flatMap(settleBatch), Effect.forever, Effect.forkScoped)

      const settle = Effect.fn("PaymentLedger.settle")(function* (id: string, proof: Proof) {
        const done = yield* Deferred.make<Attempt, LedgerError>()
        yield* Queue.offer(queue, { id, proof, done })
        return yield* Deferred.await(done)
      })

      const endUnpaid = Effect.fnUntraced(function* (id: string, reason: string, agreed: Statement.Fragment) {
        const now = timestampOf(yield* Clock.currentTimeMillis)
        yield* retryConflicts(sql`
          WITH ended AS (
            UPDATE payment_attempts SET state = 'failed', reason = ${reason}, ended_at = ${now}::timestamptz,
              signature = ${keptSignature}
            WHERE id = ${id}::uuid AND state = 'pending' AND ${agreed} RETURNING id, pool, pool_number
          ), freed AS (
            DELETE FROM payment_claims c USING ended e WHERE c.attempt_id = e.id
          )
          UPDATE payment_pools p
          SET released = (SELECT array_agg(n ORDER BY n) FROM unnest(p.released || e.pool_number) AS n)
          FROM ended e WHERE p.name = e.pool`)
        return yield* byId(id)
      })

      const fail = Effect.fn("PaymentLedger.fail")((id: string, reason: string, doubt?: Doubt) =>
        endUnpaid(
          id,
          reason,
          doubt === undefined
            ? sql.literal("true")
            : sql`doubted_reason = ${doubt.reason}::text AND doubted_at = ${doubt.at}::timestamptz`,
        ),
      )

      // Whoever notes a broadcast locks the same row: what is asked after the lock has seen it.
      const failUnsent = Effect.fn("PaymentLedger.failUnsent")((id: string, reason: string) =>
        transaction(
          sql,
          Effect.andThen(
            sql`SELECT id FROM payment_attempts WHERE id = ${id}::uuid FOR UPDATE`,
            endUnpaid(id, reason, sql`NOT EXISTS (SELECT 1 FROM relayer_broadcasts WHERE attempt_id = ${id}::uuid)`),
          ),
        ),
      )

      const defer = Effect.fn("PaymentLedger.defer")(function* (id: string, look: Look, untilMillis: number) {
        const refused = look.refusal === undefined ? sql.literal("") : sql`, refusal = ${look.refusal}::text`
        const doubt = look.doubt ?? null
        const doubted =
          look.doubt === undefined
            ? sql.literal("")
            : sql`, doubted_reason = ${doubt}::text, doubted_at = CASE WHEN ${doubt}::text IS NULL THEN NULL
                WHEN doubted_reason = ${doubt}::text THEN doubted_at ELSE now() END`
        yield* sql`
          UPDATE payment_attempts SET checks = checks + 1, next_check_at = ${timestampOf(untilMillis)}::timestamptz,
            transaction = COALESCE(${Option.getOrNull(look.reference)}::text, transaction)
            ${refused}${doubted}
          WHERE id = ${id}::uuid AND state = 'pending'`
      })

      const due = Effect.fn("PaymentLedger.due")(function* (limit: number, beforeMillis: number, leaseMillis: number) {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* retryConflicts(sql<AttemptRow>`
          UPDATE payment_attempts SET next_check_at = ${timestampOf(now + leaseMillis)}::timestamptz
          WHERE id IN (
            SELECT id FROM payment_attempts
            WHERE state = 'pending' AND next_check_at <= ${timestampOf(beforeMillis)}::timestamptz
            ORDER BY next_check_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
          RETURNING ${columns}`)
        return rows.map(fromRow)
      })

      const pending = sql<{ readonly n: bigint }>`
        SELECT count(*) AS n FROM payment_attempts WHERE state = 'pending'`.pipe(
        Effect.map((rows) => Number(rows[0]?.n ?? 0n)),
      )

      const lost = sql<{ readonly n: bigint }>`
        SELECT count(*) AS n FROM payment_attempts WHERE finality = 'lost' AND acknowledged_at IS NULL`.pipe(
        Effect.map((rows) => Number(rows[0]?.n ?? 0n)),
      )

      return PaymentLedger.of({ standing, find, claim, settle, fail, failUnsent, defer, due, pending, lost })
    }),
  )
}

const sinceOf = ({ asOfMillis }: Purse) => timestampOf(asOfMillis - clockSkew)

const sumOf = (attempts: ReadonlyArray<Attempt>) => attempts.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)

const payerOf = (proof: Proof): Payer =>
  proof.rail === "card"
    ? { payer: null, transaction: null }
    : { payer: proof.payment.authorization.from, transaction: proof.transaction }
