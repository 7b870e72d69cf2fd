/** The steps of a purchase: recorded, priced, checked, signed once, followed. Repeating a key never signs again. */
import { Clock, Effect, Option, Schema } from "effect"
import { anyAnswer, bodyOf, catalog as contract, catalogOf, type Order, type Settled } from "./Acts.ts"
import { baseOf, guarded } from "./Client.ts"
import { signedBy } from "./core/Authorization.ts"
import type { Challenge } from "./core/Challenge.ts"
import { memoryJournal } from "./core/Journal.ts"
import { type End, pursue } from "./core/Loop.ts"
import { misrecorded } from "./core/Recorded.ts"
import { program } from "./core/States.ts"
import type { Options, Progress } from "./Options.ts"
import { expected, objection } from "./Policy.ts"
import { Misrecorded, Open, reasonOf, refuse, type Unsettled } from "./PurchaseError.ts"
import * as Purchases from "./Purchases.ts"

export type { Options, Progress } from "./Options.ts"

/** The parts of an order that `follow` needs; an old purchase may have no price. */
type Followed<Answer> = Pick<Order<Answer>, "answer"> & { readonly price?: Order<Answer>["price"] }

type Refusing = Extract<End<never, never>, { end: "refused" }>
type Misrecording = Extract<End<never, never>, { end: "misrecorded" }>

export const make = Effect.fn("Buyer.make")(function* (options: Options) {
  const altar = baseOf(options.url)
  const { insecure = false } = options
  const request = options.fetch ?? fetch
  const policy = options.policy ?? {}
  const catalog = options.sales === undefined ? contract : catalogOf(options.sales)
  const purchases = Purchases.make(options.journal ?? memoryJournal())
  yield* guarded(altar, insecure)
  /** A journal entry belongs to the altar it was made with. */
  const at = (other: string) => Effect.as(guarded(other, insecure), { altar: other, fetch: request })
  const report = (progress: Progress) => Effect.sync(() => options.onProgress?.(progress))

  const signed = Effect.fn("Buyer.signed")(function* (
    price: Order<unknown>["price"] | undefined,
    purchase: Purchases.Purchase,
    challenge: Challenge | undefined,
  ) {
    const { key, url } = purchase
    const { account } = options
    if (account === undefined || price === undefined)
      return yield* refuse(
        "no_account",
        "There is no account to pay with. Nothing was signed, so nothing was charged.",
        key,
      )
    if (challenge === undefined)
      return yield* refuse(
        "unreadable_terms",
        "The altar sent terms that cannot be read. Nothing was signed, so nothing was charged.",
        key,
      )
    // A second signature beside one that still could be used might pay twice.
    const openFor = yield* purchases.openFor(url)
    if (openFor > 0) {
      yield* report({ step: "waiting", key, seconds: Math.ceil(openFor / 1000) })
      yield* Effect.sleep(openFor)
    }
    const terms = yield* expected(altar, policy, yield* purchases.termsOf(altar), request)
    const [{ amount, payTo }] = challenge.accepts
    const header = yield* purchases.signOnce({
      purchase,
      amountAtomic: amount,
      payer: account.address,
      terms,
      sign: Effect.fnUntraced(function* (spentToday) {
        const no = objection({ challenge, key, url, price, terms, policy, spentToday })
        if (no !== undefined) return yield* no
        const now = yield* Clock.currentTimeMillis
        return yield* Effect.tryPromise({
          try: () => signedBy(account, challenge, bodyOf(purchase.request), now),
          catch: () => refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key),
        })
      }),
    })
    yield* report({ step: "signed", key, amountAtomic: amount, payTo })
    return header
  })

  const settle = Effect.fn("Buyer.settle")(function* (purchase: Purchases.Purchase, answer: Settled) {
    const { key } = purchase
    const { permalink, record } = answer
    const kept = yield* Effect.orDie(Schema.decodeUnknownEffect(Schema.Json)(answer))
    // The purchase is paid: a failing journal must not make it look refused.
    yield* Effect.catch(purchases.settle(purchase, { id: record.id, permalink, answer: kept }), ({ message }) =>
      report({ step: "unkept", key, because: message }),
    )
  })

  /** Stores the evidence against an altar that recorded something else than this purchase. */
  const misrecord = Effect.fn("Buyer.misrecord")(function* (
    purchase: Purchases.Purchase,
    { differences, settlement: { body, header } }: Misrecording,
  ) {
    const { key } = purchase
    const [answer, response] = yield* Effect.orDie(
      Schema.decodeUnknownEffect(Schema.Tuple([Schema.Json, Schema.Json]))([body, header ?? null]),
    )
    const kept = yield* purchases.misrecord(purchase, { differences, answer, response }).pipe(
      Effect.as("This journal keeps your signed payment and the altar's answer."),
      Effect.catch(({ message }) => Effect.succeed(message)),
    )
    return yield* new Misrecorded({ key, differences, message: misrecorded(differences, kept) })
  })

  const refused = Effect.fn("Buyer.refused")(function* (purchase: Purchases.Purchase, end: Refusing) {
    const { key } = purchase
    const { code, message } = end.refusal
    const openUntil = end.body["authorizationOpenUntil"]
    if (code === "payment_failed")
      yield* Effect.ignore(
        purchases.fail(purchase, String(end.body["reason"]), typeof openUntil === "string" ? openUntil : undefined),
      )
    return yield* refuse(
      code,
      code === "payment_invalid"
        ? `${message} The key ${key} is not signed for again: take a new one for a new attempt.`
        : message,
      key,
    )
  })

  /** Runs the loop of the purchase; an interruption ends its requests and its waits. */
  const follow = Effect.fn("Buyer.follow")(function* <A extends Settled>(
    { answer, price }: Followed<A>,
    purchase: Purchases.Purchase,
  ): Effect.fn.Return<A, Unsettled> {
    const { altar: shop, key, payment, url } = purchase
    if (payment !== undefined) yield* report({ step: "repeated", key })
    const context = yield* Effect.context<never>()
    const run = Effect.runPromiseWith(context)
    const asked = {
      url,
      key,
      altar: shop,
      body: bodyOf(purchase.request),
      payment: payment?.header,
      amountAtomic: price?.priceAtomic.toString(),
    }
    const end = yield* Effect.promise((interrupted) =>
      pursue<A, Unsettled>(asked, program, {
        exchange: (to, init) =>
          request(to, { ...init, signal: AbortSignal.any([interrupted, ...(init.signal ? [init.signal] : [])]) }),
        reasonOf,
        wait: (seconds) => run(Effect.sleep(`${seconds} seconds`), { signal: interrupted }),
        sign: (challenge) =>
          run(
            Effect.match(signed(price, purchase, challenge), {
              onFailure: (stop) => ({ stop }),
              onSuccess: (header) => ({ payment: header }),
            }),
            { signal: interrupted },
          ),
        answerOf: (body) => run(Effect.map(Effect.option(answer(body)), Option.getOrUndefined)),
        asking: () => {},
        waiting: ({ because, seconds }) =>
          options.onProgress?.(
            because === undefined ? { step: "pending", key, seconds } : { step: "silent", key, seconds, because },
          ),
      }),
    )
    switch (end.end) {
      case "settled":
        yield* settle(purchase, end.answer)
        return end.answer
      case "misrecorded":
        return yield* misrecord(purchase, end)
      case "refused":
        return yield* refused(purchase, end)
      case "stopped":
        return yield* end.stop
      case "open":
        return yield* end.isSigned
          ? new Open({ key, message: `The altar does not say how the payment ended: ${end.reason}` })
          : refuse(
              end.refusal?.code ?? "unreachable",
              end.refusal?.message ?? `The altar does not answer: ${end.reason}. This request charged nothing.`,
              key,
            )
    }
  })

  return {
    altar,
    catalog,
    at,
    purchases,

    /** Buys under `key`; sealed words are recorded before anything is sent. */
    buy: <A extends Settled>(order: Order<A>, key: string, sealed?: Purchases.Purchase["sealed"]) =>
      purchases
        .begin({
          key,
          act: order.price.name,
          url: order.url,
          altar,
          request: order.request,
          ...(sealed === undefined ? {} : { sealed }),
        })
        .pipe(Effect.flatMap((purchase) => follow(order, purchase))),

    /** Follows a purchase of this journal to its end. An unsigned one is not paid for. */
    resume: Effect.fn("Buyer.resume")(function* (key: string): Effect.fn.Return<Settled, Unsettled> {
      const found = yield* purchases.find(key)
      if (Option.isNone(found))
        return yield* refuse("unknown_key", `This journal holds no purchase with the key ${key}.`, key)
      const purchase = found.value
      if (purchase.payment === undefined)
        return yield* refuse("not_signed", `Nothing was signed under the key ${key}, so nothing was charged.`, key)
      yield* at(purchase.altar)
      return yield* follow({ answer: catalog.get(purchase.act)?.answer ?? anyAnswer }, purchase)
    }),
  }
})

export type Buyer = Effect.Success<ReturnType<typeof make>>
