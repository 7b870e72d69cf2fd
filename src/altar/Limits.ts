/** Rate limits of the altar's POST routes. Settled payments are not counted, so no client is made to pay twice. */
import { Clock, Effect, RcMap, Semaphore } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RateLimited } from "../../schema/Errors.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { type Limit, ofNetworks, type Remaining, type Window } from "../limits/Limit.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import { BoundedMap } from "../platform/BoundedMap.ts"
import type { Ended, PaymentGuard } from "../payments/Guard.ts"
import { toMiddleware } from "../platform/Sql.ts"

/** Reveals and unseals; each guess at sealed words counts. */
export const openings: Limit = [
  { name: "openings", quota: 60, seconds: 60, says: "60 reveals and unseals per minute from one address" },
]

/** Searches for words, which read many texts. */
export const searches: Limit = [
  { name: "searches", quota: 60, seconds: 60, says: "60 searches for words per minute from one address" },
]

/** Reconcile requests, which may query the chain. */
export const questions: Limit = [
  { name: "reconciles", quota: 240, seconds: 60, says: "240 reconciles per minute from one address" },
]

/** Refused payments, each of which cost up to four calls to the node. */
export const refusedPayments: Limit = [
  { name: "refused-payments", quota: 60, seconds: 60, says: "60 refused payments per minute from one address" },
]

/** Card payments, each of which writes an attempt and calls the processor. Networks count them alone. */
export const cardPayments: Limit = [
  ...refusedPayments,
  ...ofNetworks("refused-cards", 60, 60, "refused card payments per minute"),
]

const limited = ({ retryAfter, window }: { readonly retryAfter: number; readonly window: Window }) =>
  new RateLimited({
    retryAfter,
    message: `Too many requests: ${window.says}. Wait ${retryAfter} s; this request charged and changed nothing.`,
  })

/** Counts one request of a limit for the caller's address, or refuses it with the exact wait. */
export const limits = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  return (limit: Limit, request: HttpServerRequest.HttpServerRequest) =>
    limiter
      .take(limit, addresses.of(request))
      .pipe(Effect.catchTag("Exceeded", (exceeded) => Effect.fail(limited(exceeded))))
})

/** Maximum concurrent verifications for one address; further payments wait. */
const judgedAtOnce = 64

/** Permits of a card payment: half as many run concurrently, so that valid ones never reach the limit of refused ones. */
const permitsOfCard = 2

/** Maximum exhausted addresses remembered; the oldest are dropped. */
const exhaustedKept = 10_000

interface Exhausted {
  readonly untilMillis: number
  readonly window: Window
}

/** Valid payments never reach the limiter: it counts refusals, and only exhausted addresses are remembered. */
export const guards = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  const exhausted = new BoundedMap<string, Exhausted>(exhaustedKept)
  const turns = yield* RcMap.make({ lookup: (_: string) => Semaphore.make(judgedAtOnce) })

  const remember = Effect.fnUntraced(function* (address: string, { resetSeconds, window }: Remaining) {
    const untilMillis = (yield* Clock.currentTimeMillis) + resetSeconds * 1000
    exhausted.set(address, { untilMillis, window })
  })

  const refuseExhausted = Effect.fnUntraced(function* (address: string) {
    const exhaustion = exhausted.get(address)
    if (exhaustion === undefined) return
    const waitMillis = exhaustion.untilMillis - (yield* Clock.currentTimeMillis)
    if (waitMillis <= 0) return void exhausted.delete(address)
    return yield* limited({ retryAfter: Math.ceil(waitMillis / 1000), window: exhaustion.window })
  })

  /** Counts a card payment before its end is known, so that concurrent ones never exceed the limit. */
  const counted = Effect.fnUntraced(function* (address: string) {
    yield* Effect.catchTag(limiter.take(cardPayments, address), "Exceeded", (exceeded) =>
      Effect.fail(limited(exceeded)),
    )
    const expiresAt = (yield* Clock.currentTimeMillis) + cardPayments[0].seconds * 1000
    const ended: Ended = Effect.fnUntraced(
      function* (isCharged) {
        if ((yield* Clock.currentTimeMillis) < expiresAt) yield* limiter.giveBack(cardPayments, address)
        if (!isCharged) yield* limiter.take(cardPayments, address)
      },
      (effect) => Effect.ignore(effect),
    )
    return ended
  })

  return (request: HttpServerRequest.HttpServerRequest): PaymentGuard => {
    const address = addresses.of(request)
    return {
      counting: (purchase) =>
        Effect.scoped(
          Effect.flatMap(RcMap.get(turns, `card ${address}`), (turn) =>
            Effect.flatMap(toMiddleware(counted(address)), purchase).pipe(turn.withPermits(permitsOfCard)),
          ),
        ),
      admit: (judgement, isKnown) =>
        Effect.scoped(
          Effect.flatMap(RcMap.get(turns, address), (turn) =>
            refuseExhausted(address).pipe(
              Effect.catch((limited) =>
                Effect.flatMap(isKnown, (isRepeat) => (isRepeat ? Effect.void : Effect.fail(limited))),
              ),
              Effect.andThen(judgement),
              turn.withPermits(1),
            ),
          ),
        ),
      refused: Effect.suspend(() =>
        limiter.take(refusedPayments, address).pipe(
          Effect.catchTag("Exceeded", ({ remaining }) => Effect.succeed(remaining)),
          Effect.flatMap((windows) =>
            Effect.forEach(windows, (window) => (window.remaining === 0 ? remember(address, window) : Effect.void)),
          ),
          Effect.asVoid,
          toMiddleware,
        ),
      ),
    }
  }
})
