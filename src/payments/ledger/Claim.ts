/** Writes the intent of a purchase and takes its key, payment, slots and number together, or takes nothing. */
import { randomUUID } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { retryConflicts } from "../../platform/Sql.ts"
import { rowReader } from "../../platform/Rows.ts"
import { timestampOf } from "../../platform/Time.ts"
import * as Trace from "../../platform/Trace.ts"
import type { Claims } from "../PaidAct.ts"
import { claimOf, columnsOf, type Payment } from "../Payment.ts"
import { Word } from "../Hex.ts"
import { type Attempt, attemptColumns, readAttempt } from "./Attempt.ts"
import { type AttemptState, Lookup } from "./Lookup.ts"

/** Atomic units that a wallet held when it was asked for, at `asOfMillis` or a little later. */
export interface PayerBalance {
  readonly balanceAtomic: bigint
  readonly asOfMillis: number
  /** Whether what its payments in flight have taken is back in it. */
  readonly isExact: boolean
}

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
  readonly balance?: PayerBalance | undefined
  readonly acceptedAtMillis: number
  /** Milliseconds after which another server may look at it. */
  readonly leaseMillis: number
}

/** A payment of a wallet that may still leave its balance, or has just left it. */
export interface InFlight {
  readonly nonce: Hex
  readonly amountAtomic: bigint
}

export type ClaimOutcome =
  | { readonly _tag: "Claimed"; readonly attempt: Attempt }
  | { readonly _tag: "Conflict"; readonly state: AttemptState }
  /** The wallet has too much in flight for its balance, or too many. */
  | { readonly _tag: "Overdrawn"; readonly tooMany: boolean; readonly inFlight: ReadonlyArray<InFlight> }

/** Attempts of one wallet that may be pending at once. */
const pendingAtMost = 64

/** Milliseconds by which servers' clocks may differ: what settled so long before a balance was read may not be in it. */
const clockSkew = 60_000

const sinceOf = ({ asOfMillis }: PayerBalance) => timestampOf(asOfMillis - clockSkew)

const readInFlight = rowReader(
  "payment_attempts",
  Schema.Struct({
    nonce: Word,
    amountAtomic: Schema.BigIntFromString,
    state: Schema.Literals(["pending", "settled"]),
  }),
)

export class Claim extends Context.Service<Claim, { claim(attempt: NewAttempt): Effect.Effect<ClaimOutcome> }>()(
  "spirit-altar/payments/ledger/Claim",
) {
  static readonly layer = Layer.effect(
    Claim,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const lookup = yield* Lookup
      const columns = sql.literal(attemptColumns)

      const insert = (attempt: NewAttempt, traceparent: string | undefined) => {
        const { claims, payment } = attempt
        const paid = columnsOf(payment)
        const pool = claims.pool?.name ?? null
        const names = [...claims.slots, claimOf(payment)].sort()
        // The wallet's row is locked before its payments are counted, so two claims never count past each other.
        const fits =
          attempt.balance === undefined
            ? sql`SELECT true AS fits`
            : sql`SELECT payment_fits(name, ${attempt.amountAtomic.toString()}::numeric,
                ${attempt.balance.balanceAtomic.toString()}::numeric, ${sinceOf(attempt.balance)}::timestamptz,
                ${pendingAtMost}::int) AS fits FROM payer`
        return retryConflicts(sql`
          WITH payer AS (
            INSERT INTO payment_payers AS p (name) SELECT ${paid.payer}::text WHERE ${attempt.balance !== undefined}::boolean
            ON CONFLICT (name) DO UPDATE SET name = p.name RETURNING name
          ), balance AS MATERIALIZED (
            ${fits}
          ), drawn AS (
            INSERT INTO payment_pools AS p (name, drawn, highest)
            SELECT ${pool}::text, 1, 1 WHERE ${pool}::text IS NOT NULL AND ${claims.pool?.capacity ?? 0}::int > 0
              AND (SELECT fits FROM balance)
            ON CONFLICT (name) DO UPDATE SET
              drawn = CASE WHEN cardinality(p.released) > 0 THEN p.released[1] ELSE p.highest + 1 END,
              highest = CASE WHEN cardinality(p.released) > 0 THEN p.highest ELSE p.highest + 1 END,
              released = p.released[2:]
            WHERE cardinality(p.released) > 0 OR p.highest < ${claims.pool?.capacity ?? 0}::int
            RETURNING drawn
          ), attempt AS (
            INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, rail, network, asset, pay_to,
              payer, nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, transaction, pool,
              pool_number, state, accepted_at, next_check_at, traceparent)
            SELECT ${randomUUID()}::uuid, ${attempt.idempotencyKey}, ${attempt.fingerprint}, ${attempt.act},
              ${attempt.url}, ${JSON.stringify(attempt.input)}, ${paid.rail}, ${paid.network}, ${paid.asset},
              ${paid.payTo}, ${paid.payer}, ${paid.nonce}, ${attempt.amountAtomic.toString()}::numeric,
              ${paid.validAfter}::numeric, ${paid.validBefore}::bigint,
              ${paid.signature}, ${attempt.payload}, ${paid.fromBlock}::bigint, ${paid.transaction}::text, ${pool}::text,
              (SELECT drawn FROM drawn), 'pending', ${timestampOf(attempt.acceptedAtMillis)}::timestamptz,
              ${timestampOf(attempt.acceptedAtMillis + attempt.leaseMillis)}::timestamptz, ${traceparent ?? null}::text
            WHERE (SELECT fits FROM balance) AND (${pool}::text IS NULL OR EXISTS (SELECT 1 FROM drawn))
            RETURNING ${columns}
          ), held AS (
            INSERT INTO payment_claims (name, attempt_id)
            SELECT name, attempt.id FROM attempt, unnest(${names}::text[]) AS name
          )
          SELECT * FROM attempt`)
      }

      /** Why a claim that met no conflict was not made; none when that is over by now. */
      const overdraft = Effect.fnUntraced(function* ({ amountAtomic, balance, payment }: NewAttempt) {
        if (balance === undefined) return Option.none<ClaimOutcome>()
        const { payer } = columnsOf(payment)
        const rows = yield* sql`
          SELECT nonce, amount_atomic::text AS amount_atomic, state FROM payment_attempts
          WHERE payer = ${payer} AND state = 'pending'
          UNION ALL (
            SELECT nonce, amount_atomic::text, state FROM payment_attempts
            WHERE lower(payer) = ${payer} AND state = 'settled' AND ended_at > ${sinceOf(balance)}::timestamptz
            ORDER BY ended_at DESC LIMIT 64
          )`.pipe(Effect.orDie)
        const payments = yield* Effect.forEach(rows, readInFlight)
        const tooMany = payments.filter(({ state }) => state === "pending").length >= pendingAtMost
        const total = payments.reduce((sum, one) => sum + one.amountAtomic, amountAtomic)
        return tooMany || total > balance.balanceAtomic
          ? Option.some<ClaimOutcome>({ _tag: "Overdrawn", tooMany, inFlight: payments })
          : Option.none()
      })

      const claim = Effect.fn("Claim.claim")(function* (attempt: NewAttempt): Effect.fn.Return<ClaimOutcome> {
        const [row] = yield* insert(attempt, yield* Trace.current).pipe(
          Effect.catchIf(
            (error) => error.reason._tag === "UniqueViolation",
            () => Effect.succeed([]),
          ),
          Effect.orDie,
        )
        if (row !== undefined) return { _tag: "Claimed", attempt: yield* readAttempt(row) }
        const state = yield* lookup.state(attempt.idempotencyKey, attempt.claims, attempt.payment)
        const isTaken = Option.isSome(state.attempt) || state.paymentBound || state.conflicts.length > 0
        const overdrawn = isTaken ? Option.none() : yield* overdraft(attempt)
        return Option.getOrElse(overdrawn, () => ({ _tag: "Conflict" as const, state }))
      })

      return Claim.of({ claim })
    }),
  )
}
