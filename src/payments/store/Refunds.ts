/** Payments that an operator may pay back, and the transfers that did: at most one for each payment. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Refund } from "../../../schema/payments/Refund.ts"
import { rowsOf } from "../../platform/Rows.ts"
import { bounded, part } from "../../platform/Sql.ts"
import type { Hex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { timestampOf } from "../../platform/Time.ts"
import { AddressText, topicOf, transferTopic, Word } from "../x402/chain/Eip3009.ts"
import { Chain } from "../x402/chain/Chain.ts"
import type { TransactionReceipt } from "../x402/chain/Rpc.ts"

export type { Refund }

const Row = Schema.Struct({
  /** The claim of the payment, which names it. */
  payment: Schema.String,
  /** The act or the failed attempt; null if the payment belongs to no purchase. */
  attempt: Schema.NullOr(Schema.String),
  /** Null for a card, like its asset and payer. */
  network: Schema.NullOr(Schema.String),
  asset: Schema.NullOr(Schema.String),
  payer: Schema.NullOr(Schema.String),
  amountAtomic: Schema.BigIntFromString,
  transaction: Schema.String,
  /** Until when its buyer can still buy with it, in seconds since 1970; null from then on. */
  claimableUntil: Schema.NullOr(Schema.Finite),
  refund: Schema.NullOr(Schema.fromJsonString(Refund)),
})
export type Returnable = typeof Row.Type

const returnables = rowsOf("payment_refunds", Row)
const shown = rowsOf("payment_refunds", Schema.Struct({ shown: Row.fields.refund }))

/** The refund was not recorded, for this reason. */
export class RefundRefused extends Schema.TaggedError<RefundRefused>()("RefundRefused", { message: Schema.String }) {}

/** The public JSON of the refund that matches; null without one. */
export const refundWhere = (which: Statement.Fragment) => part`(SELECT shown FROM payment_refunds f WHERE ${which})`

/** A claim that was judged in time reaches its row within this many seconds. */
const claimingSeconds = 60

const unmatched = part`
  SELECT s.name AS payment, o.id AS attempt, s.network, s.asset, s.payer, s.nonce, s.amount_atomic, s.transaction,
    s.recorded_at AS since, CASE WHEN o.id IS NULL AND s.valid_before + ${claimingSeconds}::int > extract(epoch FROM now())
      THEN s.valid_before END AS claimable_until
  FROM unmatched_payments s LEFT JOIN payment_claims c ON c.name = s.name
    LEFT JOIN payment_attempts o ON o.id = COALESCE(s.attempt, c.attempt_id) AND o.state = 'failed'`

const settled = part`
  SELECT COALESCE(a.authorization_name, 'card-intent:' || a.transaction) AS payment, a.id AS attempt,
    a.payment ->> 'network' AS network, a.payment #>> '{authorization,asset}' AS asset, a.payer,
    a.payment #>> '{authorization,nonce}' AS nonce, a.amount_atomic,
    COALESCE(a.current_transaction, a.transaction) AS transaction, a.ended_at AS since, NULL AS claimable_until
  FROM payment_attempts a WHERE a.state = 'settled'`

const list = (source: Statement.Fragment, which: Statement.Fragment, limit: number) => part`
  SELECT p.payment, p.attempt, p.network, p.asset, p.payer, p.amount_atomic::text AS amount_atomic, p.transaction,
    p.claimable_until::float8 AS claimable_until, f.shown AS refund
  FROM (${source}) p LEFT JOIN payment_refunds f ON f.payment = p.payment
  WHERE ${which} ORDER BY p.since, p.payment LIMIT ${limit}::int`

const isTaken = (error: unknown) => SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation"

export class Refunds extends Context.Service<
  Refunds,
  {
    /** Payments that bought nothing and were not paid back, oldest first. */
    readonly due: (limit: number) => Effect.Effect<ReadonlyArray<Returnable>, SqlError.SqlError>
    /** The payments of an attempt; or by their own transaction or nonce. */
    readonly find: (what: string) => Effect.Effect<ReadonlyArray<Returnable>, SqlError.SqlError>
    /**
     * Records a checked transfer, inside its caller's transaction. The payment of no purchase is claimed by its refund, so
     * no concurrent purchase claims it. Fails if a purchase with it is in flight, or if it has a refund.
     */
    readonly record: (payment: string, refund: Refund) => Effect.Effect<void, RefundRefused | SqlError.SqlError>
    /** The refund of a payment, by its claim; none if it was not refunded. */
    readonly ofPayment: (payment: string) => Effect.Effect<Option.Option<Refund>, SqlError.SqlError>
    /** The refund of an attempt's payment; none if it was not refunded. */
    readonly ofAttempt: (id: string) => Effect.Effect<Option.Option<Refund>, SqlError.SqlError>
  }
>()("spirit-altar/payments/store/Refunds") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const due = (limit: number) => returnables(sql`${list(unmatched, part`f.payment IS NULL`, limit)}`)

    const find = (what: string) => {
      const name = what.toLowerCase()
      const isHash = name.startsWith("0x")
      const of = isHash
        ? part`a.transaction = ${name} OR a.current_transaction = ${name} OR a.payment #>> '{authorization,nonce}' = ${name}`
        : part`a.id = ${name}::uuid`
      const which = isHash
        ? part`lower(p.transaction) = ${name} OR lower(p.nonce) = ${name}`
        : part`p.attempt = ${name}::uuid`
      return returnables(sql`${list(part`${unmatched} UNION ALL ${settled} AND (${of})`, which, 10)}`)
    }

    const record = Effect.fn("Refunds.record")(
      function* (payment: string, refund: Refund) {
        yield* sql`INSERT INTO payment_claims (name) VALUES (${payment}) ON CONFLICT (name) DO NOTHING`
        const made = yield* sql`
          INSERT INTO payment_refunds (payment, transaction, attempt, shown)
          SELECT ${payment}, ${refund.transaction}, ${refund.attempt}::uuid, ${JSON.stringify(refund)}
          WHERE NOT EXISTS (
            SELECT 1 FROM payment_claims c JOIN payment_attempts a ON a.id = c.attempt_id
            WHERE c.name = ${payment} AND a.state = 'pending')
          RETURNING payment`
        if (made.length > 0) return
        return yield* new RefundRefused({
          message: "A purchase with this payment is in flight. Wait for its outcome. Nothing was recorded.",
        })
      },
      Effect.catchIf(isTaken, () =>
        Effect.fail(
          new RefundRefused({
            message: "This payment has a refund, or this transaction is another refund's. Nothing was recorded.",
          }),
        ),
      ),
    )

    const shownOf = (which: Statement.Fragment) =>
      shown(sql`SELECT shown FROM payment_refunds f WHERE ${which}`).pipe(
        bounded,
        Effect.map(([row]) => Option.fromNullishOr(row?.shown)),
      )

    return {
      due,
      find,
      record,
      ofPayment: (payment: string) => shownOf(part`f.payment = ${payment}`),
      ofAttempt: (id: string) => shownOf(part`f.attempt = ${id}::uuid`),
    }
  })
  static readonly layer = Layer.effect(this, this.make)
}

const addressesOf = Schema.decodeUnknownEffect(
  Schema.Struct({ asset: AddressText, payer: AddressText, transaction: Word }),
)

const refuse = (message: string) => Effect.fail(new RefundRefused({ message: `${message} Nothing was recorded.` }))

/** The sum that the transaction moved to the wallet, less what it moved from it. */
const movedTo = (payer: Address, { logs }: TransactionReceipt) =>
  logs
    .filter(({ data, topics: [event] }) => event === transferTopic && data.length === 66)
    .reduce((sum, { data, topics: [, from, to] }) => {
      const received = to === topicOf(payer) ? BigInt(data) : 0n
      return sum + received - (from === topicOf(payer) ? BigInt(data) : 0n)
    }, 0n)

/** The refund to record. The payment and the transfer back must both be in final blocks, in this order. */
export const checked = Effect.fn("RefundCheck.checked")(
  function* (payment: Returnable, transaction: Hex) {
    const chain = yield* Chain
    const clock = yield* DatabaseClock
    const { amountAtomic, attempt, claimableUntil, network, refund } = payment
    if (network === null) return yield* refuse("This payment was made by card. Refund it at the card processor.")
    if (refund !== null) return yield* refuse(`This payment was refunded in transaction ${refund.transaction}.`)
    if (claimableUntil !== null)
      return yield* refuse(
        `The buyer can still buy with this payment, until ${new Date(claimableUntil * 1000).toISOString()}. Record its refund a minute later.`,
      )
    const { asset, payer, transaction: original } = yield* Effect.orDie(addressesOf(payment))

    const finalReceipt = Effect.fnUntraced(function* (hash: Hex, what: string) {
      const receipt = Option.getOrUndefined(yield* chain.receiptOf(hash, asset))
      if (receipt === undefined) return yield* refuse(`The node of RPC_URL knows no transaction ${hash} of ${what}.`)
      if (!receipt.succeeded) return yield* refuse(`The transaction ${hash} of ${what} failed.`)
      if (yield* chain.isFinal(receipt.block)) return receipt
      return yield* refuse(`The block of ${what} is not final yet. Try again later.`)
    })

    const paid = yield* finalReceipt(original, "the payment")
    const returned = yield* finalReceipt(transaction, "the refund")
    if (returned.block.number < paid.block.number) return yield* refuse("This transaction is older than the payment.")
    const moved = movedTo(payer, returned)
    if (moved < amountAtomic)
      return yield* refuse(
        `This transaction moved ${moved} atomic USDC to ${payer}, which paid ${amountAtomic}. One transaction must return all of it.`,
      )
    return {
      transaction,
      network,
      asset,
      payer,
      amountAtomic: moved.toString(),
      originalTransaction: original,
      attempt,
      recordedAt: timestampOf((yield* clock.now).millis),
    } satisfies Refund
  },
  Effect.catchTag("ChainUnavailable", () => refuse("The node of RPC_URL does not answer. Try again later.")),
)
