/** Limits the node calls that refused payments of one address can cause. */
import { Clock, Effect, RcMap, Semaphore } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ClientAddress } from "../limits/ClientAddress.ts"
import type { Remaining, Window } from "../limits/Limit.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import type { PaymentGuard } from "../payments/Request.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { limited, refusedPayments } from "./Limits.ts"

/** Maximum concurrent verifications for one address; further payments wait. */
const judgedAtOnce = 64

/** Maximum exhausted addresses remembered; the oldest are dropped. A `Cache` would need a lookup, which they lack. */
const exhaustedKept = 10_000

interface Exhausted {
  readonly untilMillis: number
  readonly window: Window
}

/** Valid payments never reach the limiter: it counts refusals, and only exhausted addresses are remembered. */
export const make = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const addresses = yield* ClientAddress
  const exhausted = new Map<string, Exhausted>()
  const turns = yield* RcMap.make({ lookup: (_: string) => Semaphore.make(judgedAtOnce) })

  const remember = Effect.fnUntraced(function* (address: string, { resetSeconds, window }: Remaining) {
    const untilMillis = (yield* Clock.currentTimeMillis) + resetSeconds * 1000
    exhausted.delete(address)
    exhausted.set(address, { untilMillis, window })
    const oldest = exhausted.size > exhaustedKept ? exhausted.keys().next().value : undefined
    if (oldest !== undefined) exhausted.delete(oldest)
  })

  const refuseExhausted = Effect.fnUntraced(function* (address: string) {
    const known = exhausted.get(address)
    if (known === undefined) return
    const waitMillis = known.untilMillis - (yield* Clock.currentTimeMillis)
    if (waitMillis <= 0) return void exhausted.delete(address)
    return yield* limited({ retryAfter: Math.ceil(waitMillis / 1000), window: known.window })
  })

  return (request: HttpServerRequest.HttpServerRequest): PaymentGuard => {
    const address = addresses.of(request)
    return {
      admit: (judgement, isKnown) =>
        Effect.scoped(
          Effect.flatMap(RcMap.get(turns, address), (turn) =>
            refuseExhausted(address).pipe(
              Effect.catch((limited) =>
                Effect.flatMap(isKnown, (known) => (known ? Effect.void : Effect.fail(limited))),
              ),
              Effect.andThen(judgement),
              turn.withPermits(1),
            ),
          ),
        ),
      refused: Effect.suspend(() => limiter.take(refusedPayments, address)).pipe(
        Effect.catchTag("Exceeded", ({ remaining }) => Effect.succeed(remaining)),
        Effect.flatMap((windows) =>
          Effect.forEach(windows, (one) => (one.remaining === 0 ? remember(address, one) : Effect.void)),
        ),
        Effect.asVoid,
        toMiddleware,
      ),
    }
  }
})
