/** Signs how far the tree is: the one statement the log makes, and never two of which neither continues the other. */
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { equal } from "../../schema/log/Bytes.ts"
import { LogStopped, stopped } from "./Alarm.ts"
import { LastSigned, type LastSignedLost } from "./LastSigned.ts"
import { LogStore, type TreeHead } from "./LogStore.ts"
import type { Signer } from "./Signer.ts"
import { edgeOf, edgePlaces, hashOfRange, placesOf, rootOf } from "./Tree.ts"

export interface PublisherConfig {
  readonly signer: Signer
  /** The first line of every checkpoint, for the life of the log. */
  readonly origin: string
}

const lookEvery = "500 millis"
/** A log without new stones is proved and dated anew this often, in ms: an older date means that nobody is at work. */
const confirmEvery = 600_000
const pauseAfterTrouble = "5 seconds"

/** All leaves of a tree; an empty one has no hash to be compared. */
const wholeOf = ({ size }: TreeHead) => (size === 0 ? [] : [{ from: 0, to: size }])

export class Publisher extends Context.Service<
  Publisher,
  {
    /** Publishes a checkpoint of what is integrated; false when the newest one covers it. */
    readonly publish: Effect.Effect<boolean, LogStopped | LastSignedLost>
  }
>()("spirit-altar/log/Publisher") {
  /** Publishes when it is told to, and not by itself. */
  static readonly layerNoLoop = ({ origin, signer }: PublisherConfig) =>
    Layer.effect(
      Publisher,
      Effect.gen(function* () {
        const store = yield* LogStore
        const lastSigned = yield* LastSigned

        /** Why signing this tree would contradict what was signed before, if it would. */
        const contradiction = Effect.fnUntraced(function* (
          tree: TreeHead,
          signed: ReadonlyArray<readonly [what: string, TreeHead]>,
        ) {
          const ranges = signed.flatMap(([, before]) => wholeOf(before))
          const read = yield* store.tiles([...edgePlaces(tree.size), ...placesOf(ranges)])
          const edge = edgeOf(tree.size, read)
          if (edge === undefined || !equal(rootOf(edge), tree.root)) {
            return Option.some(`the tiles of the ${tree.size} stones of the log do not have the root it was built with`)
          }
          for (const [what, before] of signed) {
            if (before.size > tree.size) {
              return Option.some(
                `${what} covers ${before.size} stones, but this database has ${tree.size} in its log: a backup was restored, or this is another database`,
              )
            }
            const [range] = wholeOf(before)
            const root = range === undefined ? before.root : hashOfRange(range, read)
            if (root === undefined || !equal(root, before.root)) {
              return Option.some(`the first ${before.size} stones of the log are not those that ${what} covers`)
            }
          }
          return Option.none<string>()
        })

        const noteOf = ({ root, size }: TreeHead) =>
          signer.note({ origin, size, root: Uint8Array.from(root), extensions: [] })

        const publish = Effect.gen(function* () {
          // What was signed is read before the tree, which only grows: read after it, another server's could be ahead.
          const kept = yield* lastSigned.recall
          const newest = yield* store.newest
          const tree = yield* store.head
          if (Option.isSome(tree.stopped)) return yield* new LogStopped({ reason: tree.stopped.value.reason })
          const isThis = ({ root, size }: TreeHead) => size === tree.size && equal(root, tree.root)
          const isCovered = Option.exists(newest, isThis)
          const isKnown = !lastSigned.isKept || Option.exists(kept, isThis)
          const now = yield* Clock.currentTimeMillis
          const isRecent = Option.exists(newest, ({ at }) => now - at.getTime() < confirmEvery)
          if (isCovered && isKnown && isRecent) return false
          const signed = [
            ...Option.toArray(newest).map((one) => ["the published checkpoint", one] as const),
            ...Option.toArray(kept).map((one) => ["the checkpoint this server signed last", one] as const),
          ]
          const wrong = yield* contradiction(tree, signed)
          if (Option.isSome(wrong)) return yield* stopped(store, wrong.value)
          if (Option.exists(newest, (one) => one.note !== noteOf(one))) {
            return yield* stopped(store, "the published checkpoint is not as this server's key would sign it")
          }
          const note = noteOf(tree)
          // Also what another server signed: each of them has to know it when a backup has forgotten it.
          if (!isKnown) yield* lastSigned.remember(note)
          if (isCovered) {
            if (!isRecent) yield* store.confirm(tree.size)
            return false
          }
          yield* store.publish(tree, note)
          return true
        }).pipe(
          Effect.catchTag("SqlError", (error) => Effect.die(error)),
          Effect.withSpan("Publisher.publish"),
        )

        return Publisher.of({ publish })
      }),
    )

  /** Publishes by itself; any number of servers may, for the same tree is signed with the same bytes. */
  static readonly layer = (config: PublisherConfig) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { publish } = yield* Publisher
        yield* publish.pipe(
          // It is known by its own alarm.
          Effect.catchTag("LogStopped", () => Effect.void),
          Effect.catchCause((cause) =>
            Effect.andThen(Effect.logError("No checkpoint could be published", cause), Effect.sleep(pauseAfterTrouble)),
          ),
          Effect.repeat(Schedule.spaced(lookEvery)),
          Effect.forkScoped,
        )
      }),
    ).pipe(Layer.provideMerge(Publisher.layerNoLoop(config)))
}
