/** What is on disk of attempts: the one under a key, who holds a claim, and how many are open or lost. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowReader } from "../../platform/Rows.ts"
import type { Claims, ClaimConflict } from "../PaidAct.ts"
import { claimOf, type Payment } from "../Payment.ts"
import { type Attempt, attemptColumns, readAttempt } from "./Attempt.ts"

/** The attempt under a key, and which of the claims others hold. */
export interface AttemptState {
  readonly attempt: Option.Option<Attempt>
  readonly conflicts: ReadonlyArray<ClaimConflict>
  /** Whether an attempt, this or another, holds the payment. */
  readonly paymentBound: boolean
}

/** The database does not answer, so nothing can be counted. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {}) {}

const readClaims = rowReader(
  "payment_claims",
  Schema.Struct({
    id: Schema.NullOr(Schema.String),
    held: Schema.NullOr(Schema.Array(Schema.Struct({ name: Schema.String, settled: Schema.Boolean }))),
    drawn: Schema.NullOr(Schema.Int),
  }),
)

const readCount = rowReader("payment_attempts", Schema.Struct({ n: Schema.BigInt }))

export class Lookup extends Context.Service<
  Lookup,
  {
    /** In one round trip: the attempt under a key, and whether the claims are free. */
    state(key: string, claims: Claims, payment?: Payment): Effect.Effect<AttemptState>
    find(key: string): Effect.Effect<Option.Option<Attempt>>
    /** Attempts whose outcome is not known yet. */
    readonly pending: Effect.Effect<number, LedgerUnavailable>
    /** Settled acts whose transfer was reorganised away for good, and that no operator has acknowledged. */
    readonly lost: Effect.Effect<number, LedgerUnavailable>
  }
>()("spirit-altar/payments/ledger/Lookup") {
  static readonly layer = Layer.effect(
    Lookup,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(attemptColumns)

      const state = Effect.fn("Lookup.state")(function* (
        key: string,
        claims: Claims,
        payment?: Payment,
      ): Effect.fn.Return<AttemptState> {
        const bound = payment === undefined ? "" : claimOf(payment)
        const names = bound === "" ? claims.slots : [...claims.slots, bound]
        // A list of fixed length keeps one plan; an array would be planned anew each time.
        const held =
          names.length === 0
            ? sql.literal("NULL::json")
            : sql`(SELECT json_agg(json_build_object('name', c.name, 'settled', o.state = 'settled') ORDER BY c.name)
                FROM payment_claims c JOIN payment_attempts o ON o.id = c.attempt_id WHERE c.name IN ${sql.in(names)})`
        const [row] = yield* sql`
          SELECT a.*, ${held} AS held,
            (SELECT highest - cardinality(released) FROM payment_pools WHERE name = ${claims.pool?.name ?? ""}) AS drawn
          FROM (SELECT 1) AS one
          LEFT JOIN (SELECT ${columns} FROM payment_attempts WHERE idempotency_key = ${key}) AS a ON true`.pipe(
          Effect.orDie,
        )
        const found = yield* readClaims(row)
        const taken = found.held ?? []
        const slots = taken.flatMap((claim): ReadonlyArray<ClaimConflict> =>
          claim.name === bound ? [] : [{ _tag: "Slot", name: claim.name, settled: claim.settled }],
        )
        const isFull = claims.pool !== undefined && (found.drawn ?? 0) >= claims.pool.capacity
        return {
          attempt: found.id === null ? Option.none() : Option.some(yield* readAttempt(row)),
          conflicts: isFull ? [...slots, { _tag: "Pool", name: claims.pool.name }] : slots,
          paymentBound: taken.some((claim) => claim.name === bound),
        }
      })

      const find = Effect.fn("Lookup.find")(function* (key: string) {
        const [row] = yield* sql`SELECT ${columns} FROM payment_attempts WHERE idempotency_key = ${key}`.pipe(
          Effect.orDie,
        )
        return row === undefined ? Option.none() : Option.some(yield* readAttempt(row))
      })

      const count = (where: string) =>
        sql`SELECT count(*) AS n FROM payment_attempts WHERE ${sql.literal(where)}`.pipe(
          Effect.mapError(() => new LedgerUnavailable({})),
          Effect.flatMap(([row]) => readCount(row)),
          Effect.map(({ n }) => Number(n)),
        )

      return Lookup.of({
        state,
        find,
        pending: count("state = 'pending'"),
        lost: count("finality = 'lost' AND acknowledged_at IS NULL"),
      })
    }),
  )
}
