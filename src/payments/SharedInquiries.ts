/** Shares an inquiry among concurrent clients of one attempt. For two seconds after it, they get the stored state. */
import { type Context, Duration, Effect, Fiber, FiberMap, Option } from "effect"
import type { Attempt } from "./store/Attempt.ts"

/** Minimum time between two inquiries that clients cause. No `Retry-After` is shorter. */
export const inquiryInterval = Duration.seconds(2)

/**
 * Inquires about an attempt that was just read. No client owns an inquiry, so a disconnect stops none. A failed inquiry
 * learned nothing, and one that ended the attempt is recorded: neither starts a pause.
 */
export const make = Effect.fnUntraced(function* <E>(
  inquire: (attempt: Attempt) => Effect.Effect<Attempt, E>,
  every: Duration.Duration,
) {
  const inquiries = yield* FiberMap.make<string, Attempt, E>()
  const run = yield* FiberMap.runtime(inquiries)<never>()
  const pauses = yield* FiberMap.make<string>()
  const begin = (attempt: Attempt) =>
    Effect.tap(inquire(attempt), (seen) =>
      seen.state === "pending" && !Duration.isZero(every)
        ? FiberMap.run(pauses, attempt.id, Effect.sleep(every))
        : Effect.void,
    )

  /** One step: two fibers that begin the same inquiry would interrupt each other. */
  const joined = (attempt: Attempt) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Fiber.join(
        Option.getOrElse(FiberMap.getUnsafe(inquiries, attempt.id), () =>
          run(attempt.id, Effect.provideContext(begin(attempt), context)),
        ),
      ),
    )

  return Effect.fnUntraced(function* (attempt: Attempt): Effect.fn.Return<Attempt, E> {
    if (attempt.state !== "pending" || FiberMap.hasUnsafe(pauses, attempt.id)) return attempt
    const seen = yield* joined(attempt)
    return seen.state === "pending" ? attempt : seen
  })
})
