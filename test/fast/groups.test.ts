/** Payments that wait for the relayer: a caller that stops waiting affects no other. */
import { Deferred, Duration, Effect, Fiber, Option, Ref, Semaphore } from "effect"
import { MaxOpsBeforeYield } from "effect/Scheduler"
import { type Hex, zeroAddress, zeroHash } from "viem"
import type { Submission } from "../../src/payments/Settlement.ts"
import * as Groups from "../../src/payments/x402/relayer/Groups.ts"
import * as RelayerNode from "../../src/payments/x402/relayer/RelayerNode.ts"
import * as RelayerNonces from "../../src/payments/x402/relayer/RelayerNonces.ts"
import { patience } from "../lab/Patience.ts"
import { assert, describe, live } from "../lab/Suites.ts"

const submitted: Submission = { _tag: "Submitted", transaction: zeroHash }

const memberOf = Effect.fnUntraced(function* (attempt: string) {
  const authorization = {
    asset: zeroAddress,
    from: zeroAddress,
    to: zeroAddress,
    value: 1n,
    validAfter: 0n,
    validBefore: 1n,
    nonce: zeroHash,
    signature: zeroHash,
  }
  return {
    transfer: { attempt, state: "pending" as const, chainId: 1, authorization },
    noted: yield* Ref.make(Option.none<Hex>()),
  }
})

const estimated = Option.some({ gas: 1n, expected: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } })

const groupsOf = Effect.fnUntraced(function* (
  ways: Pick<Groups.GroupsOptions, "alone" | "inTurn"> & { readonly turn?: Semaphore.Semaphore },
) {
  const node = RelayerNode.make({ ask: () => Effect.never, once: () => Effect.never }, Duration.seconds(5))
  return yield* Groups.make({
    most: 1,
    turn: yield* Semaphore.make(1),
    address: zeroAddress,
    node,
    nonces: RelayerNonces.make(node, zeroAddress),
    market: Effect.never,
    dispatch: () => Effect.never,
    ...ways,
  })
})

const soon = <A, E, R>(effect: Effect.Effect<A, E, R>, why: string) =>
  Effect.timeoutOrElse(effect, { duration: patience(5), orElse: () => Effect.die(why) })

describe("payments in the relayer's queue", () => {
  live("continue after one that stopped waiting, at whichever step it was", function* () {
    // It can be stopped at every so many of its steps, and is after so many stops.
    for (const [stride, stops] of [4, 5, 6, 7, 8, 9].flatMap((each) => [0, 1, 2, 3, 4, 5, 6].map((n) => [each, n]))) {
      const sent: Array<string> = []
      const inTurn: Groups.GroupsOptions["inTurn"] = ({ transfer }) =>
        Effect.sync(() => {
          sent.push(transfer.attempt)
          return submitted
        })
      const groups = yield* groupsOf({ alone: () => Effect.never, inTurn })
      const first = yield* memberOf("first")
      const one = yield* Effect.forkChild(
        Effect.provideService(groups.join(first, estimated), MaxOpsBeforeYield, stride ?? 4),
      )
      for (let step = 0; step < (stops ?? 0); step += 1) yield* Effect.yieldNow
      yield* Fiber.interrupt(one)
      const second = yield* memberOf("second")
      const answer = yield* soon(groups.join(second, estimated), `stopped after ${stops} times ${stride} steps`)
      assert.deepStrictEqual(answer, submitted)
      assert.lengthOf(
        sent.filter((attempt) => attempt === "second"),
        1,
      )
    }
  })

  live("are not grouped twice when the first caller has left", function* () {
    const turn = yield* Semaphore.make(1)
    const released = yield* Deferred.make<void>()
    let times = 0
    const inTurn = () => Effect.sync(() => ((times += 1), submitted))
    const groups = yield* groupsOf({ turn, alone: () => Effect.never, inTurn })
    yield* Effect.forkChild(turn.withPermits(1)(Deferred.await(released)))
    yield* Effect.yieldNow
    const member = yield* memberOf("one")
    const ask = groups.join(member, estimated)
    const first = yield* Effect.forkChild(ask, { startImmediately: true })
    yield* Fiber.interrupt(first)
    const others = yield* Effect.forkChild(Effect.all([ask, ask], { concurrency: "unbounded" }), {
      startImmediately: true,
    })
    yield* Deferred.succeed(released, undefined)
    assert.deepStrictEqual(yield* soon(Fiber.join(others), "nobody was answered"), [submitted, submitted])
    assert.strictEqual(times, 1)
  })
})
