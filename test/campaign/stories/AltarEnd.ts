/** The end of a story: faults are over, time passes, and every attempt, payment and charge has its end. */
import { Effect } from "effect"
import { pauses } from "./AltarCommands.ts"
import type * as AltarHarness from "./AltarHarness.ts"
import * as Model from "./AltarModel.ts"
import { keyOf } from "./AltarOrders.ts"
import { differ, type Difference } from "./Difference.ts"

/** The steps of the story that its end takes, too, and its model. */
interface Steps<R> {
  readonly known: () => Model.Altar
  readonly becomes: (altar: Model.Altar) => void
  readonly reconcile: (at: AltarHarness.At, key: number) => Effect.Effect<unknown, Difference, R>
  readonly read: (at: AltarHarness.At) => Effect.Effect<void, Difference, R>
  readonly restart: (
    at: AltarHarness.At,
    meanwhile: undefined,
    isFinal: boolean,
  ) => Effect.Effect<unknown, Difference, R>
}

export const everythingEnds = Effect.fnUntraced(function* <R>(
  world: Effect.Success<typeof AltarHarness.make>,
  { becomes, known, read, reconcile, restart }: Steps<R>,
) {
  yield* world.calm
  yield* world.bankMisbehaves("no")
  yield* world.bank.finish
  becomes({ ...Model.finished(known()), fault: "no", bankFault: "no" })
  const openNow = () =>
    known()
      .attempts.filter(({ state }) => state === "pending")
      .map(({ key }) => key)
  for (const pause of [pauses["a day"], Model.apartMillis, Model.apartMillis]) {
    yield* world.pass(pause)
    for (const key of openNow()) yield* reconcile(key % 2 === 0 ? 0 : 1, key)
  }
  yield* differ("what is still open", openNow(), [])
  yield* read(0)
  yield* read(1)

  // A settled attempt is final if it was paid, and lost if its block never existed: found by two looks of a server.
  for (const at of [0, 1] as const) {
    yield* world.pass(2 * Model.apartMillis)
    yield* restart(at, undefined, true)
  }
  const truth = yield* world.truth
  const isPaid = ({ authorization }: Model.Attempt) => truth.ends.get(authorization)?.how === "paid"
  const expected = known()
    .attempts.filter(({ charge, state }) => state === "settled" && charge === undefined)
    .map((one) => ({ key: keyOf(one.key), finality: isPaid(one) ? "final" : "lost" }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const finalities = (yield* world.rows)
    .filter(({ rail, state }) => state === "settled" && rail === "x402")
    .map(({ finality, key }) => ({ key, finality }))
  yield* differ("the finality of what is settled", finalities, expected)
  const charged = known().attempts.filter((one) => one.state === "failed" && isPaid(one))
  const delivered = new Set(
    known()
      .attempts.filter(({ state }) => state === "settled")
      .map((one) => one.authorization),
  )
  yield* differ(
    "what failed and was charged",
    charged.filter((one) => !delivered.has(one.authorization)),
    [],
  )
})
