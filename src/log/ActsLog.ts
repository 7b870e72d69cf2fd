/** The log over all acts, beside the log over the stones. */
import { Context, Effect, Layer } from "effect"
import { ActOrder } from "../payments/store/ActOrder.ts"
import { Confirmation } from "./Confirmation.ts"
import { PublishedLog } from "./PublishedLog.ts"

export class ActsLog extends Context.Service<
  ActsLog,
  {
    readonly log: PublishedLog["Service"]
    /** The evidence the log waits for before it signs; none while it may sign. */
    readonly waitsFor: Confirmation["Service"]["waitsFor"]
    /** The number of settled acts. */
    readonly total: ActOrder["Service"]["total"]
  }
>()("spirit-altar/log/ActsLog") {
  static readonly layer = Layer.effect(
    ActsLog,
    Effect.gen(function* () {
      const { waitsFor } = yield* Confirmation
      const { total } = yield* ActOrder
      return { log: yield* PublishedLog, waitsFor, total }
    }),
  )

  /** For a server without a key. */
  static readonly none = Layer.effect(
    ActsLog,
    Effect.map(PublishedLog, (log) => ({ log, waitsFor: Effect.succeedNone, total: Effect.succeed(0) })),
  ).pipe(Layer.provide(PublishedLog.none))
}
