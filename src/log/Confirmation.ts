/** Withholds a restarted log's signature until a source outside the database confirms its head. */
import { Context, Effect, Layer, Option, Ref } from "effect"
import type { LastSignedLost } from "./LastSigned.ts"
import type { LogStopped } from "./Alarm.ts"
import type { Published, TreeHead } from "./LogRows.ts"
import { log } from "../platform/LogMessages.ts"

/** The state of the log at a server's start. */
export interface Evidence {
  /** The newest checkpoint of the database, which may be a restored backup. An empty tree commits to nothing. */
  readonly newest: Option.Option<Published>
  /** The checkpoint in LOG_CHECKPOINT_FILE, if that file exists. */
  readonly file: Option.Option<Option.Option<TreeHead>>
  readonly hasWitnesses: boolean
  /** Whether a log witness has answered with its state, even an empty one. */
  readonly isAnyHeard: Effect.Effect<boolean>
  /** Asks the log witnesses whether one of them knows the newest checkpoint. */
  readonly isWitnessed: (newest: Published) => Effect.Effect<boolean, Trouble>
}

type Trouble = LogStopped | LastSignedLost

const waitOf = ({ file, hasWitnesses, newest }: Evidence) => {
  if (Option.isNone(newest)) return "a log witness to say what it holds"
  const covers = Option.map(file, (kept) =>
    Option.match(kept, { onNone: () => "holds no checkpoint", onSome: ({ size }) => `covers ${size}` }),
  )
  const sources = [
    ...Option.match(covers, { onNone: () => [], onSome: (what) => [`LOG_CHECKPOINT_FILE, which ${what},`] }),
    ...(hasWitnesses ? ["a log witness"] : []),
  ]
  const whom =
    sources.length > 0 ? sources.join(" or ") : "LOG_CHECKPOINT_FILE or a log witness, none of them configured,"
  return `${whom} to confirm the checkpoint of size ${newest.value.size}`
}

export class Confirmation extends Context.Service<Confirmation>()("spirit-altar/log/Confirmation", {
  make: Effect.gen(function* () {
    const waiting = yield* Ref.make(Option.none<string>())
    let isGiven = false
    let first: Pick<Published, "at" | "size"> | undefined

    /** Only a confirmed server signs or renews checkpoints, so a newer one proves another server on this database. */
    const isByAnother = ({ at, size }: Published) => {
      first ??= { at, size }
      return size >= first.size && at.getTime() > first.at.getTime()
    }

    const isEnough = ({ file, isAnyHeard, isWitnessed, newest }: Evidence) => {
      const kept = Option.flatten(file)
      return Option.match(newest, {
        onNone: () => (Option.isSome(kept) ? Effect.succeed(true) : isAnyHeard),
        onSome: (published) =>
          Option.exists(kept, ({ size }) => size >= published.size) || isByAnother(published)
            ? Effect.succeed(true)
            : isWitnessed(published),
      })
    }

    const settle = Effect.fn("Confirmation.settle")(function* (given: Evidence) {
      if (isGiven) return true
      const evidence = { ...given, newest: Option.filter(given.newest, ({ size }) => size > 0) }
      isGiven = yield* isEnough(evidence)
      const wait = isGiven ? Option.none<string>() : Option.some(waitOf(evidence))
      const before = yield* Ref.getAndSet(waiting, wait)
      if (Option.isSome(wait) && Option.isNone(before)) {
        yield* log("log waiting", { evidence: wait.value })
      }
      if (isGiven && Option.isSome(before)) yield* log("log confirmed")
      return isGiven
    })

    return {
      /** The evidence the log waits for before it signs; none while it may sign. */
      waitsFor: Ref.get(waiting),
      /** Whether this server may sign. A confirmation lasts until the server stops. */
      isGiven: Effect.sync(() => isGiven),
      /** Confirms the log if the evidence is sufficient. */
      settle,
    }
  }),
}) {
  static readonly layer = Layer.effect(Confirmation, Confirmation.make)
}
