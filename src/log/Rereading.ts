/** Reads the covered entries again, bundle by bundle, so that a changed row is found though its file is in memory. */
import { Effect, Layer, Ref } from "effect"
import { fullWidth, widthAt } from "../../schema/log/Tile.ts"
import { stopped } from "./Alarm.ts"
import { LogStore } from "./LogStore.ts"
import { because } from "./StopReason.ts"
import { PublishedLog } from "./PublishedLog.ts"
import { repeatStage } from "./StageLoop.ts"

/** One bundle a second: a log of a million entries is read in 65 minutes. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const log = yield* PublishedLog
    const store = yield* LogStore
    const next = yield* Ref.make(0)
    const reread = Effect.gen(function* () {
      const { size } = yield* log.checkpoint
      const index = yield* Ref.modify(next, (at) => {
        const now = at * fullWidth < size ? at : 0
        return [now, now + 1]
      })
      const width = widthAt(size, { level: 0, index })
      if (width > 0) yield* log.bundle({ index, width })
      // A difference raised its alarm where it was found.
    }).pipe(
      Effect.catchTags({
        NotPublished: () => Effect.void,
        LogStopped: () => Effect.void,
        ChainBroken: ({ message }) =>
          Effect.ignore(stopped(store, because("entries", `the chain is broken: ${message}`))),
      }),
    )
    yield* repeatStage(reread, "log rereading failed", Effect.sleep("1 second"))
  }),
)
