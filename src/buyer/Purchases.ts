/** The journal's purchases: a key belongs to one request, is signed for once, and counts against its day. */
import { Clock, type Context, DateTime, Effect, Option, Schema } from "effect"
import { Difference, refuse, type Refused } from "./PurchaseError.ts"
import type { Journal, Pages } from "./core/Journal.ts"
import { secondsMaximum } from "../../schema/payments/Usdc.ts"
import type { Terms } from "./Policy.ts"

const unavailable = (cause: unknown) =>
  refuse(
    "journal_unavailable",
    `The journal cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
  )

const used = <A>(use: () => Promise<A>) => Effect.tryPromise({ try: use, catch: unavailable })

const pagesOf = <A>(kind: string, schema: Schema.Codec<A>) => {
  const json = Schema.fromJsonString(schema)
  // A page holds secrets, so the error omits the cause.
  const unreadable = () => unavailable(`a page of the kind ${kind} cannot be read`)
  const decode = (text: string) => Effect.mapError(Schema.decodeEffect(json)(text), unreadable)
  return {
    get: (pages: Pages, name: string) =>
      Effect.flatMap(
        used(() => pages.get(`${kind}/${name}`)),
        (text) => (text === undefined ? Effect.succeedNone : Effect.asSome(decode(text))),
      ),
    set: (pages: Pages, name: string, value: A) =>
      Effect.flatMap(Effect.orDie(Schema.encodeEffect(json)(value)), (text) =>
        used(() => pages.set(`${kind}/${name}`, text)),
      ),
    all: (pages: Pages) =>
      Effect.flatMap(
        used(() => pages.all(`${kind}/`)),
        (texts) => Effect.forEach(texts, decode),
      ),
  }
}

/**
 * Runs an effect as one turn of the journal, alone and uninterruptible. A failed effect rejects the turn, so that the
 * journal stores none of it. `chargeNote` tells what was sent and paid so far, for the error of an unusable journal.
 */
export const exclusively =
  (journal: Journal) =>
  <A>(turn: (pages: Pages) => Effect.Effect<A, Refused>, chargeNote = ""): Effect.Effect<A, Refused> =>
    Effect.contextWith((context: Context.Context<never>) => {
      // A journal may wrap what its turn rejects with.
      let failed: Refused | undefined
      const noted = (pages: Pages) => Effect.tapError(turn(pages), (error) => Effect.sync(() => (failed = error)))
      return Effect.tryPromise({
        try: () => journal.alone((pages) => Effect.runPromiseWith(context)(noted(pages))),
        catch: (error) => failed ?? unavailable(error),
      })
    }).pipe(
      Effect.mapError((error) =>
        chargeNote !== "" && error.code === "journal_unavailable"
          ? refuse(error.code, `${error.message} ${chargeNote}`)
          : error,
      ),
      Effect.uninterruptible,
    )

export const Purchase = Schema.Struct({
  key: Schema.String,
  act: Schema.String,
  /** The URL of the request, which a payment must name, and its altar. */
  url: Schema.String,
  altar: Schema.String,
  request: Schema.Json,
  begunAt: Schema.String,
  sealed: Schema.optionalKey(Schema.Struct({ salt: Schema.String, words: Schema.String })),
  /** `PAYMENT-SIGNATURE`, recorded before it was first sent. */
  payment: Schema.optionalKey(
    Schema.Struct({
      header: Schema.String,
      payer: Schema.String,
      amountAtomic: Schema.String,
      signedAt: Schema.String,
    }),
  ),
  settled: Schema.optionalKey(Schema.Struct({ id: Schema.String, permalink: Schema.String, answer: Schema.Json })),
  /** The altar's reason for ending it unpaid. The signed payment stays, because it may be valid until `validBefore`. */
  failed: Schema.optionalKey(Schema.String),
  /** Until when the authorization of a failed payment could still be used. Nothing is signed for this URL before. */
  openUntil: Schema.optionalKey(Schema.String),
  /** The newest answer that differs from the purchase, as evidence against the altar. */
  misrecorded: Schema.optionalKey(
    Schema.Struct({
      at: Schema.String,
      differences: Schema.Array(Difference),
      answer: Schema.Json,
      /** The content of `PAYMENT-RESPONSE`. */
      response: Schema.Json,
    }),
  ),
})
export type Purchase = typeof Purchase.Type

const purchases = pagesOf("purchase", Purchase)
/** The payment terms of earlier purchases, by altar URL. */
const terms = pagesOf("terms", Schema.Struct({ network: Schema.String, asset: Schema.String, payTo: Schema.String }))
/** Atomic amounts signed for, by key; one page a UTC day. */
const spent = pagesOf("spent", Schema.Record(Schema.String, Schema.String))

const now = Effect.map(Clock.currentTimeMillis, (millis) => DateTime.formatIso(DateTime.makeUnsafe(millis)))
/** The charge as known when the journal fails: before anything is sent, and after the price was asked for. */
const unsent = "Nothing was sent."
const unpaid = "This request sent no payment, so it charged nothing."

const dayOf = (time: string) => time.slice(0, 10)

export interface Signing {
  readonly purchase: Purchase
  readonly amountAtomic: string
  readonly payer: string
  readonly terms: Terms
  /** Refuses, or returns the header; called at most once for a key. */
  readonly sign: (spentToday: bigint) => Effect.Effect<string, Refused>
}

export const make = (journal: Journal) => {
  const alone = exclusively(journal)

  const current = (pages: Pages, purchase: Purchase) =>
    Effect.map(
      purchases.get(pages, purchase.key),
      Option.getOrElse(() => purchase),
    )

  /** Changes members of a purchase and keeps the rest of its page. */
  const amend = (
    purchase: Purchase,
    change: Partial<Pick<Purchase, "settled" | "misrecorded" | "failed" | "openUntil">>,
  ) =>
    alone((pages) =>
      Effect.flatMap(current(pages, purchase), (found) => purchases.set(pages, purchase.key, { ...found, ...change })),
    )

  return {
    all: alone((pages) => purchases.all(pages), unsent),

    find: (key: string) => alone((pages) => purchases.get(pages, key), unsent),

    /** The payment terms of earlier purchases at this altar. */
    termsOf: (altar: string) => alone((pages) => terms.get(pages, altar), unpaid),

    /** The existing purchase of this key, or a new one; the same key with another request is refused. */
    begin: (draft: Omit<Purchase, "begunAt" | "payment" | "settled" | "failed" | "openUntil" | "misrecorded">) =>
      alone(
        Effect.fnUntraced(function* (pages: Pages) {
          const found = yield* purchases.get(pages, draft.key)
          if (Option.isNone(found)) {
            const purchase: Purchase = { ...draft, begunAt: yield* now }
            yield* purchases.set(pages, draft.key, purchase)
            return purchase
          }
          const { key, request, url } = found.value
          return key === draft.key && url === draft.url && JSON.stringify(request) === JSON.stringify(draft.request)
            ? found.value
            : yield* refuse(
                "key_in_use",
                `The key ${draft.key} already names another purchase in this journal; take a new key for a new one. This request charged nothing.`,
                draft.key,
              )
        }),
        unsent,
      ),

    /** The one payment of a key: the recorded one, or a new one that is recorded before it can be sent. */
    signOnce: (signing: Signing) =>
      alone(
        Effect.fnUntraced(function* (pages: Pages) {
          const purchase = yield* current(pages, signing.purchase)
          if (purchase.payment !== undefined) return purchase.payment.header
          const { amountAtomic, payer } = signing
          const signedAt = yield* now
          const day = Option.getOrElse(yield* spent.get(pages, dayOf(signedAt)), () => ({}))
          const header = yield* signing.sign(Object.values(day).reduce((sum, amount) => sum + BigInt(amount), 0n))
          yield* spent.set(pages, dayOf(signedAt), { ...day, [purchase.key]: amountAtomic })
          yield* terms.set(pages, purchase.altar, signing.terms)
          const payment = { header, payer, amountAtomic, signedAt }
          yield* purchases.set(pages, purchase.key, { ...purchase, payment })
          return header
        }),
        unpaid,
      ),

    settle: (purchase: Purchase, settled: NonNullable<Purchase["settled"]>) => amend(purchase, { settled }),

    /** Stores the answer of an altar that recorded something else; payment and words stay. */
    misrecord: (purchase: Purchase, answered: Omit<NonNullable<Purchase["misrecorded"]>, "at">) =>
      Effect.flatMap(now, (at) => amend(purchase, { misrecorded: { at, ...answered } })),

    /** Records the altar's refusal; the signed amount still counts against its day. */
    fail: (purchase: Purchase, failed: string, openUntil: string | undefined) =>
      amend(purchase, { failed, ...(openUntil === undefined ? {} : { openUntil }) }),

    /** Milliseconds until no failed payment for this URL can be used any more. */
    openFor: (url: string) =>
      alone(
        (pages) =>
          Effect.zipWith(purchases.all(pages), Clock.currentTimeMillis, (all, at) =>
            all.reduce((longest, { openUntil, payment, url: its }) => {
              if (its !== url || openUntil === undefined || payment === undefined) return longest
              // An altar cannot make it longer than any authorization that a buyer signs.
              const latest = Date.parse(payment.signedAt) + secondsMaximum * 1000
              return Math.max(longest, Math.min(Date.parse(openUntil), latest) - at || 0)
            }, 0),
          ),
        unpaid,
      ),
  }
}

export type Purchases = ReturnType<typeof make>
