/** The way of a purchase: kept, priced, checked, signed once, followed to its end. A repeat of its key never signs again. */
import { Effect, Option, Result, Schema } from "effect"
import { PaymentFailed, PaymentInvalid, PaymentRequired } from "../../schema/payments/Errors.ts"
import { type ActName, again, type Errand, isActName, secondsOf, type Settled, waitOf } from "./Acts.ts"
import { baseOf, make as makeClient, urlsOf } from "./Client.ts"
import { because, Open, refuse, type Refused, sayingOf } from "./Ends.ts"
import { type Journal, memoryJournal } from "./Journal.ts"
import { objection, type Policy } from "./Policy.ts"
import * as Purchases from "./Purchases.ts"
import { type Account, sign } from "./Signer.ts"
import { expected } from "./Terms.ts"

export type Progress =
  | { readonly step: "signed"; readonly key: string; readonly amountAtomic: string; readonly payTo: string }
  | { readonly step: "repeated"; readonly key: string }
  | { readonly step: "pending"; readonly key: string; readonly seconds: number }
  | { readonly step: "unkept"; readonly key: string; readonly because: string }
  | { readonly step: "silent"; readonly key: string; readonly seconds: number; readonly because: string }

export interface Options {
  /** Public URL of the altar; a challenge must name exactly what was asked there. */
  readonly url: string
  /** Who pays; without one everything that is free works. */
  readonly account?: Account
  readonly policy?: Policy
  /** Forgotten with the process when absent. */
  readonly journal?: Journal
  readonly fetch?: typeof fetch
  /** Allows plain http to another machine, where anybody on the way can read and change what is said. */
  readonly insecure?: boolean
  readonly onProgress?: (progress: Progress) => void
}

/** How often an altar that says nothing is asked before the purchase is left open. */
const patience = 10

/** What another try may change: no answer, a fault, a full house. */
const passing = new Set(["rate_limited", "internal", "facilitator_unavailable"])

/** A free request: its refusal in the altar's words, or that nobody answered. */
export const free = <A>(request: Effect.Effect<A, unknown>): Effect.Effect<A, Refused> =>
  Effect.mapError(Effect.timeout(request, "1 minute"), (error) => {
    const said = sayingOf(error)
    return said === undefined
      ? refuse("unreachable", `The altar gave no answer that can be read: ${because(error)}.`)
      : refuse(said.code, said.message)
  })

export const make = Effect.fn("Buyer.make")(function* (options: Options) {
  const altar = baseOf(options.url)
  const send = options.fetch ?? fetch
  const policy = options.policy ?? {}
  const purchases = Purchases.make(options.journal ?? memoryJournal())
  const reach = { fetch: send, insecure: options.insecure }
  const client = yield* makeClient(altar, reach)
  const urls = urlsOf(altar)
  /** What a journal holds belongs to the altar it was made with, and to no other. */
  const clientAt = (other: string) => (other === altar ? Effect.succeed(client) : makeClient(other, reach))
  const say = (progress: Progress) => Effect.sync(() => options.onProgress?.(progress))

  /** Sends the very same request until somebody answers it; before a signature, not for long. */
  const insist = <A>(request: Effect.Effect<A, unknown>, { key }: Purchases.Purchase, isSigned: boolean) => {
    const attempt = (round: number): Effect.Effect<Result.Result<A, unknown>, Refused | Open> =>
      Effect.flatMap(Effect.result(Effect.timeout(request, "2 minutes")), (result) => {
        if (Result.isSuccess(result)) return Effect.succeed(result)
        const said = sayingOf(result.failure)
        if (said !== undefined && !passing.has(said.code)) return Effect.succeed(result)
        const why = said?.message ?? because(result.failure)
        if (round > (isSigned ? patience : 2))
          return isSigned
            ? new Open({ key, message: `The altar does not say how the payment ended: ${why}` })
            : refuse(
                said?.code ?? "unreachable",
                said?.message ?? `The altar does not answer: ${why}. Nothing was charged.`,
                key,
              )
        const seconds = waitOf(said?.retryAfter ?? Math.min(10, round))
        return say({ step: "silent", key, seconds, because: why }).pipe(
          Effect.andThen(Effect.sleep(`${seconds} seconds`)),
          Effect.andThen(attempt(round + 1)),
        )
      })
    return attempt(1)
  }

  /** Until there is evidence: 202 is never a reason to pay again. */
  const reconciled = <A>(
    errand: Errand<A>,
    purchase: Purchases.Purchase,
    seconds: number,
  ): Effect.Effect<void, Refused | Open> =>
    Effect.gen(function* () {
      const { key } = purchase
      yield* say({ step: "pending", key, seconds })
      yield* Effect.sleep(`${seconds} seconds`)
      const asked = yield* insist(errand.reconcile(key), purchase, true)
      // Whatever it is but 202, the request itself is answered with it, in the type of its act.
      if (Result.isFailure(asked) || "record" in asked.success.body) return
      return yield* reconciled(errand, purchase, secondsOf(asked.success.headers))
    })

  /** Hands in what was signed, the same bytes each time, until it is settled or refused. */
  const follow = <A extends Settled>(
    errand: Errand<A>,
    purchase: Purchases.Purchase,
    header?: string,
  ): Effect.Effect<A, Refused | Open> =>
    Effect.gen(function* () {
      const { key } = purchase
      const headers = { "idempotency-key": key, ...(header === undefined ? {} : { "payment-signature": header }) }
      const reply = yield* insist(errand.send(headers), purchase, header !== undefined)
      if (Result.isSuccess(reply)) {
        if (reply.success._tag === "Pending") {
          yield* reconciled(errand, purchase, reply.success.seconds)
          return yield* follow(errand, purchase, header)
        }
        const { answer } = reply.success
        const { permalink, record } = answer
        const kept = yield* Effect.orDie(Schema.decodeUnknownEffect(Schema.Json)(answer))
        // It is paid for: a journal that fails now must not make it look refused.
        yield* Effect.catch(purchases.settle(purchase, { id: record.id, permalink, answer: kept }), ({ message }) =>
          say({ step: "unkept", key, because: message }),
        )
        return answer
      }
      const error = reply.failure
      if (error instanceof PaymentRequired && header === undefined) {
        return yield* follow(errand, purchase, yield* signed(errand, purchase, error))
      }
      if (error instanceof PaymentFailed) yield* Effect.ignore(purchases.fail(purchase, error.reason))
      if (error instanceof PaymentInvalid)
        return yield* refuse(
          error.code,
          `${error.message} The key ${key} is not signed for again: take a new one for a new attempt.`,
          key,
        )
      const said = sayingOf(error)
      return yield* refuse(said?.code ?? "unreachable", said?.message ?? because(error), key)
    })

  const signed = <A>({ price, url }: Errand<A>, purchase: Purchases.Purchase, { challenge }: PaymentRequired) =>
    Effect.gen(function* () {
      const { key } = purchase
      const { account } = options
      if (account === undefined)
        return yield* refuse(
          "no_account",
          "There is no account to pay with. Nothing was signed, so nothing was charged.",
          key,
        )
      const terms = yield* expected(altar, policy, yield* purchases.termsOf(altar), send)
      const [{ amount, payTo }] = challenge.accepts
      const header = yield* purchases.signOnce({
        purchase,
        amountAtomic: amount,
        payer: account.address,
        terms,
        sign: (spentToday) =>
          Effect.suspend(() => {
            const no = objection({ challenge, key, url, price, terms, policy, spentToday })
            return no === undefined ? sign(account, challenge, key) : no
          }),
      })
      yield* say({ step: "signed", key, amountAtomic: amount, payTo })
      return header
    })

  const pursue = <A extends Settled>(errand: Errand<A>, purchase: Purchases.Purchase) =>
    purchase.payment === undefined
      ? follow(errand, purchase)
      : Effect.andThen(say({ step: "repeated", key: purchase.key }), follow(errand, purchase, purchase.payment.header))

  return {
    client,
    urls,
    clientAt,
    purchases,

    /** Buys under `key`; what was sealed for it is kept before anything is sent. */
    buy: <A extends Settled>(name: ActName, errand: Errand<A>, key: string, sealed?: Purchases.Purchase["sealed"]) =>
      purchases
        .begin({
          key,
          act: name,
          url: errand.url,
          altar,
          request: errand.request,
          ...(sealed === undefined ? {} : { sealed }),
        })
        .pipe(Effect.flatMap((purchase) => pursue(errand, purchase))),

    /** Follows a purchase of this journal to its end; one that was never signed is not paid for by this. */
    resume: (key: string): Effect.Effect<Settled, Refused | Open> =>
      Effect.gen(function* () {
        const found = yield* purchases.find(key)
        if (Option.isNone(found) || !isActName(found.value.act))
          return yield* refuse("unknown_key", `This journal holds no purchase with the key ${key}.`, key)
        const purchase = found.value
        if (purchase.payment === undefined)
          return yield* refuse("not_signed", `Nothing was signed under the key ${key}, so nothing was charged.`, key)
        const { altar: there, request } = purchase
        const errand = yield* Effect.orDie(again(found.value.act, yield* clientAt(there), urlsOf(there), request))
        return yield* pursue(errand, purchase)
      }),
  }
})

export type Buyer = Effect.Success<ReturnType<typeof make>>
