/** The buyer behind plain promises: each settles as its effect does, and an `AbortSignal` interrupts it. */
import { Effect } from "effect"
import * as Buyer from "./Buyer.ts"
import type { Call, Options } from "./Options.ts"
import * as Orders from "./Orders.ts"

/** Runs effects on a buyer that the first call creates. */
export const runnerOf = (options: Options) => {
  const orders = Effect.runSync(Effect.cached(Effect.map(Buyer.make(options), Orders.make)))
  return <A, E>(use: (orders: Orders.Orders) => Effect.Effect<A, E>, call: Call): Promise<A> =>
    Effect.runPromise(Effect.flatMap(orders, use), call)
}
