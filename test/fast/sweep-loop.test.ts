/** The sweep of open attempts: one that waits delays no other. */
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Attempt } from "../../src/payments/ledger/Attempt.ts"
import { Sweep } from "../../src/payments/ledger/Sweep.ts"
import type { Rail } from "../../src/payments/Payment.ts"
import * as SweepLoop from "../../src/payments/SweepLoop.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

/** Sweeps each second; an attempt is leased once by its rail, in this order. Returns what was concluded by then. */
const swept = Effect.fnUntraced(function* (
  due: Readonly<Record<Rail, ReadonlyArray<string>>>,
  inquiry: (id: string, hold: Effect.Effect<boolean>) => Effect.Effect<unknown>,
) {
  const concluded: Array<string> = []
  const left = { x402: [...due.x402], card: [...due.card] }
  const pending = Sweep.of({
    lease: (rail) =>
      Effect.sync(() => {
        const attempts = left[rail].splice(0, 1).map((id) => ({ id }) as Attempt)
        return { attempts, taken: attempts.length }
      }),
    hold: () => Effect.succeed(true),
  } as Partial<Sweep["Service"]> as Sweep["Service"])
  yield* SweepLoop.start({
    pending,
    conclude: (_, attempt, hold = Effect.succeed(false)) =>
      Effect.as(
        Effect.andThen(
          inquiry(attempt.id, hold),
          Effect.sync(() => concluded.push(attempt.id)),
        ),
        attempt,
      ),
    sweepEvery: Duration.seconds(1),
    patience: Duration.seconds(20),
  })
  for (const _ of [0, 1, 2]) yield* TestClock.adjust("1 second")
  return concluded
}, Effect.scoped)

describe("the sweep", () => {
  effect("of transfers goes on while a card processor hangs", function* () {
    const inquiry = (id: string) => (id === "charge" ? Effect.never : Effect.void)
    assert.deepStrictEqual(yield* swept({ card: ["charge", "later"], x402: ["one", "two"] }, inquiry), ["one", "two"])
  })

  effect("goes on while a payment that is held for it is resubmitted", function* () {
    const inquiry = (id: string, hold: Effect.Effect<boolean>) =>
      id === "slow" ? Effect.andThen(hold, Effect.never) : Effect.void
    assert.deepStrictEqual(yield* swept({ card: [], x402: ["first", "slow", "other"] }, inquiry), ["first", "other"])
  })
})
