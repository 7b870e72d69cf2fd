/** The buyer with plain promises: each settles as its effect does, and an `AbortSignal` interrupts it. */
import { Effect } from "effect"
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import * as Buyer from "./Buyer.ts"
import * as Orders from "./Orders.ts"
import type {
  ActOrder,
  CandleOrder,
  CollectOrder,
  KeeperOrder,
  Opening,
  PrayerOrder,
  WitnessOrder,
} from "./OrderTypes.ts"

/** Of one call. What is aborted after it was signed stays in the journal and is taken up again by its key. */
export interface Call {
  readonly signal?: AbortSignal
}

export const promiseApi = (options: Buyer.Options) => {
  const orders = Effect.runSync(Effect.cached(Effect.map(Buyer.make(options), Orders.make)))
  const run =
    <Args extends ReadonlyArray<unknown>, A, E>(order: (orders: Orders.Orders, ...args: Args) => Effect.Effect<A, E>) =>
    (call: Call, ...args: Args): Promise<A> =>
      Effect.runPromise(
        Effect.flatMap(orders, (made) => order(made, ...args)),
        call,
      )
  return {
    act: run((made, name: string, order: ActOrder) => made.act(name, order)),
    witness: run((made, order: WitnessOrder) => made.witness(order)),
    pray: run((made, order: PrayerOrder) => made.pray(order)),
    keep: run((made, order: KeeperOrder) => made.keep(order)),
    collect: run((made, order: CollectOrder) => made.collect(order)),
    light: run((made, order: CandleOrder) => made.light(order)),
    reveal: run((made, id: string, opening: Opening = {}) => made.reveal(id, opening)),
    proof: run((made, id: string) => made.proof(id)),
    unseal: run((made, id: string, opening: Opening = {}) => made.unseal(id, opening)),
    reconcile: run((made, key: string) => made.reconcile(key)),
    spirits: run((made) => made.spirits),
    altar: run((made, spirit: SpiritId) =>
      Effect.map(made.altars, (altars) => altars.find((altar) => altar.spirit === spirit)),
    ),
  }
}

export type PromiseApi = ReturnType<typeof promiseApi>
