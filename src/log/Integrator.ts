/** Appends settled entries to the tree in order. The tree is derived, so a slow log delays no payment. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { equal } from "../../schema/log/Bytes.ts"
import * as Signal from "../platform/Signal.ts"
import { LogStopped, stopped } from "./Alarm.ts"
import { Entries, type Entry } from "./Entries.ts"
import type { LogHead } from "./LogRows.ts"
import { LogStore } from "./LogStore.ts"
import { pollInterval, repeatStage } from "./StageLoop.ts"
import { because, StopReason } from "./StopReason.ts"
import { append, edgeOf, edgePlaces, leafAt, leafOf, placesOf, rootOf } from "./Tree.ts"

export interface IntegratorConfig {
  /** Maximum number of entries in one transaction. */
  readonly batch: number
}

/** Small enough that hashing delays requests by a few milliseconds at most. */
export const defaults: IntegratorConfig = { batch: 512 }

/** Found within a transaction, which is rolled back before the log is stopped. */
class Contradiction extends Schema.TaggedError<Contradiction>()("Contradiction", { reason: StopReason }) {}

export class Integrator extends Context.Service<Integrator>()("spirit-altar/log/Integrator", {
  make: ({ batch }: IntegratorConfig) =>
    Effect.gen(function* () {
      const store = yield* LogStore
      const entries = yield* Entries
      const grown = yield* Signal.make

      /** The fault of the tree or of the entries to append, if there is one. */
      const extend = Effect.fnUntraced(function* (head: LogHead, found: ReadonlyArray<Entry>) {
        const { size } = head
        const places = [...edgePlaces(size), ...placesOf(size === 0 ? [] : [{ from: size - 1, to: size }])]
        const read = yield* store.tiles(places)
        const edge = edgeOf(size, read)
        if (edge === undefined || !equal(rootOf(edge), head.root)) {
          return Option.some(
            because("tiles", `the tiles of the ${size} stones of the log do not have the root it was built with`),
          )
        }
        const known = found.find(({ sequence }) => sequence === size)
        const leaf = size === 0 ? undefined : leafAt(size - 1, read)
        if (size > 0 && (known === undefined || leaf === undefined || !equal(leafOf(known.bytes), leaf))) {
          return Option.some(because("entries", `stone ${size} is not the one that the log holds`))
        }
        const leaves = found.filter(({ sequence }) => sequence > size).map(({ bytes }) => leafOf(bytes))
        const grown = append(edge, size, leaves)
        const root = rootOf(grown.edge)
        return (yield* store.extend(size, grown.growths, { size: size + leaves.length, root }))
          ? Option.none()
          : Option.some(because("tiles", `the tiles behind stone ${size} are not as the log left them`))
      })

      const integrate = Effect.gen(function* () {
        const before = yield* store.head
        if (Option.isSome(before.stopped)) return yield* new LogStopped({ reason: before.stopped.value.reason })
        const { size } = before
        // Reads the last entry of the tree again: it must be unchanged, and the new entries must follow it.
        const { count, entries: found } = yield* entries.segment(Math.max(1, size), size === 0 ? batch : batch + 1)
        if (count < size) {
          return yield* stopped(store, because("entries", `the log holds ${size} stones, but there are only ${count}`))
        }
        const added = found.length - (size === 0 ? 0 : 1)
        if (count === size) return 0
        return yield* store
          .atOnce(
            Effect.gen(function* () {
              const head = yield* store.lockHead
              // Another server may have appended these entries before this one got the lock.
              if (Option.isNone(head) || head.value.size !== size || Option.isSome(head.value.stopped)) return 0
              const wrong = yield* extend(head.value, found)
              return Option.isSome(wrong) ? yield* new Contradiction({ reason: wrong.value }) : added
            }),
          )
          .pipe(Effect.catchTag("Contradiction", ({ reason }) => stopped(store, reason)))
      }).pipe(
        Effect.catchTag("SqlError", (error) => Effect.die(error)),
        Effect.tap((added) => (added > 0 ? grown.notify : Effect.void)),
        Effect.withSpan("Integrator.integrate"),
      )

      return {
        /** Appends at most one batch of settled entries and returns their number; 0 if another server did it. */
        integrate,
        /** Signals that this server has appended entries. */
        grown,
      }
    }),
}) {
  /** Integrates only when called. */
  static readonly layerNoLoop = (config: IntegratorConfig = defaults) =>
    Layer.effect(Integrator, Integrator.make(config))

  /** Integrates in a loop; any number of servers may. Few large steps beside sales cost little, so no sale ends the wait. */
  static readonly layer = (config: IntegratorConfig = defaults) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { integrate } = yield* Integrator
        const store = yield* LogStore
        const work = integrate.pipe(
          Effect.tap(Effect.yieldNow),
          Effect.repeat({ while: (added) => added >= config.batch }),
          // A stopped log has raised its own alarm. An entry with a wrong hash stops the log with that reason.
          Effect.catchTags({
            LogStopped: () => Effect.void,
            ChainBroken: ({ message }) =>
              Effect.ignore(stopped(store, because("entries", `the chain is broken: ${message}`))),
          }),
        )
        yield* repeatStage(work, "log integration failed", Effect.sleep(pollInterval))
      }),
    ).pipe(Layer.provideMerge(Integrator.layerNoLoop(config)))
}
