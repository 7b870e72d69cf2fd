/** Grows the log and signs it. Both run after stones settle, so a slow or stopped log delays no payment. */
import { Clock, Context, Effect, Layer, Option, Ref } from "effect"
import type { SqlError } from "effect/sql"
import type { ChainLink } from "../../schema/altar/ChainLink.ts"
import { concat, equal } from "../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../schema/log/Checkpoint.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import type { ChainBroken } from "../altar/StoredChain.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { log } from "../platform/LogMessages.ts"
import { LastSigned, type LastSignedLost } from "./LastSigned.ts"
import { byCosigner, continuity, edgeIn, type Signed } from "./Continuity.ts"
import { contradiction, LogStopped, LogStore, type Published } from "./LogStore.ts"
import type { HeldCheckpoint } from "./Cosigner.ts"
import { PublishedLog, type Signing } from "./PublishedLog.ts"
import { append, edgePlaces, leafAt, leafOf, placesOf, rootOf, rootOfNothing, type TreeHead } from "./Tree.ts"
import { Cosigners } from "./Cosigners.ts"

export interface PumpConfig extends Signing {
  /** Minimum seconds between two checkpoints, on all servers together. */
  readonly publishSeconds: number
  /** Maximum number of stones in one transaction. The default delays requests by a few milliseconds at most. */
  readonly batch?: number
}

/** Milliseconds after which an idle log dates its newest checkpoint again. An older date means that no server signs. */
const confirmEvery = 600_000

export class Pump extends Context.Service<Pump>()("spirit-altar/log/Pump", {
  make: ({ batch = 512, origin, publishSeconds, signer }: PumpConfig) =>
    Effect.gen(function* () {
      const store = yield* LogStore
      const chain = yield* WitnessChain
      const lastSigned = yield* LastSigned
      const cosigners = yield* Cosigners
      const waitsFor = yield* Ref.make<string | null>(null)
      const { checkContinues, prove } = continuity(store)

      /** The head of a log that is not stopped. */
      const running = Effect.flatMap(store.head, (head) =>
        Option.isNone(head.stopped)
          ? Effect.succeed(head)
          : Effect.fail(new LogStopped({ reason: head.stopped.value.reason })),
      )

      /** Appends new stones, after a check that the last stone of the log is unchanged. */
      const extend = Effect.fnUntraced(function* ({ root, size }: TreeHead, links: ReadonlyArray<ChainLink>) {
        const last = size === 0 ? [] : [{ from: size - 1, to: size }]
        const tileAt = yield* store.tiles([...edgePlaces(size), ...placesOf(last)])
        const edge = yield* edgeIn({ root, size }, tileAt)
        const leaves = links.map((link) => leafOf(entryOf(link)))
        const [chainLeaf, leaf] = [leaves[0], leafAt(size - 1, tileAt)]
        if (size > 0 && (chainLeaf === undefined || leaf === undefined || !equal(chainLeaf, leaf))) {
          return yield* contradiction("entries", `stone ${size} is not the one that the log holds`)
        }
        const added = leaves.slice(last.length)
        const grown = append(edge, size, added)
        if (!(yield* store.extend(size, grown.growths, { size: size + added.length, root: rootOf(grown.edge) }))) {
          return yield* contradiction("tiles", `the tiles behind stone ${size} are not as the log left them`)
        }
        return added.length
      })

      const integrate = Effect.gen(function* () {
        const { size } = yield* running
        const { head, links } = yield* chain.segment(Math.max(1, size), size === 0 ? batch : batch + 1)
        if (head.sequence < size) {
          return yield* contradiction("entries", `the log holds ${size} stones, but there are only ${head.sequence}`)
        }
        if (head.sequence === size) return 0
        return yield* store.atOnce(
          Effect.gen(function* () {
            const locked = yield* store.lockHead
            // Another server may have appended these stones before this one got the lock.
            return Option.exists(locked, (now) => now.size === size && Option.isNone(now.stopped))
              ? yield* extend(Option.getOrThrow(locked), links)
              : 0
          }),
        )
      }).pipe(Effect.catchTag("Contradiction", store.stop), Effect.withSpan("Pump.integrate"))

      /** Checkpoints that cosigners hold and that the log has not yet been shown to continue. */
      const unproved = yield* Ref.make<ReadonlyArray<HeldCheckpoint>>([])
      const isConfirmed = yield* Ref.make(false)
      const firstSeen = yield* Ref.make(Option.none<Published>())

      const noteOf = ({ root, size }: TreeHead) => signer.note({ origin, size, root: concat(root), extensions: [] })

      /** Fails if a cosigner holds a checkpoint that this log signed and does not extend: that proves a fork. */
      const cosigned = Effect.fnUntraced(function* (
        { root, size }: TreeHead,
        note: string,
        how: "cosign" | "vouch" = "cosign",
      ) {
        const checkpoint: Checkpoint = { origin, size, root: concat(root), extensions: [] }
        const { held, lines } = yield* cosigners.sign(how, { note, checkpoint, prove: prove(size) })
        if (held.length > 0) {
          // The head is read after the cosigners' checkpoints: one read earlier could be smaller than what another server signed.
          yield* checkContinues(yield* store.head, held.map(byCosigner)).pipe(
            Effect.tapError(() => Ref.update(unproved, (before) => [...before, ...held])),
          )
        }
        return { lines, isAhead: held.some((cosigner) => cosigner.checkpoint.size >= size) }
      })

      /** Requests the signatures that a published checkpoint lacks. */
      const cosignAgain = Effect.fnUntraced(function* (published: Published) {
        const { lines } = yield* cosigned(published, published.note)
        if (lines !== "") yield* store.cosign(published.size, published.note, published.note + lines)
      })

      /**
       * Whether a source outside the database confirms the newest checkpoint, which may be that of a restored backup. An
       * empty tree commits to nothing.
       */
      const confirms = Effect.fnUntraced(function* (newest: Option.Option<Published>, kept: Option.Option<TreeHead>) {
        if (Option.isNone(newest)) return Option.isSome(kept) || (yield* cosigners.isAnyHeard)
        const { at, note, size } = newest.value
        const first = yield* Ref.updateAndGet(
          firstSeen,
          Option.orElse(() => newest),
        )
        // Only a confirmed server signs checkpoints, so one that is newer than our first reading is another server's.
        const isByAnother = Option.exists(first, (seen) => size >= seen.size && at.getTime() > seen.at.getTime())
        if (isByAnother || Option.exists(kept, (head) => head.size >= size)) return true
        const { isAhead, lines } = yield* cosigned(newest.value, note, "vouch")
        return isAhead || lines !== ""
      })

      const evidenceFor = (newest: Option.Option<Published>, kept: Option.Option<TreeHead>) => {
        if (Option.isNone(newest)) return "a cosigner to say what it holds"
        const covers = Option.match(kept, {
          onNone: () => "holds no checkpoint",
          onSome: ({ size }) => `covers ${size}`,
        })
        const sources = [
          ...(lastSigned.isDurable ? [`LOG_CHECKPOINT_FILE, which ${covers},`] : []),
          ...(Option.exists(cosigners.policy, (policy) => policy.cosigners.some(({ url }) => url))
            ? ["a cosigner"]
            : []),
        ]
        const source = sources.join(" or ") || "LOG_CHECKPOINT_FILE or a cosigner, none of them configured,"
        return `${source} to confirm the checkpoint of size ${newest.value.size}`
      }

      /** Records what this server waits for. A record of another server, or of an earlier one, ends when this one signs. */
      const wait = Effect.fnUntraced(function* (evidence: string | null, isRecorded = false) {
        const before = yield* Ref.getAndSet(waitsFor, evidence)
        if (before !== evidence || isRecorded) yield* store.wait(evidence)
        if (before === evidence) return
        yield* evidence === null ? log("log confirmed") : log("log waiting", { evidence })
      })

      /** Whether this server may sign. A confirmation lasts until the server stops. */
      const confirm = Effect.fnUntraced(function* (published: Option.Option<Published>, kept: Option.Option<TreeHead>) {
        if (yield* Ref.get(isConfirmed)) return true
        const newest = Option.filter(published, ({ size }) => size > 0)
        const isGiven = yield* confirms(newest, kept)
        yield* Ref.set(isConfirmed, isGiven)
        yield* wait(isGiven ? null : evidenceFor(newest, kept))
        return isGiven
      })

      /** The tree, and the signed checkpoints that it must continue. */
      const survey = Effect.gen(function* () {
        // Signed checkpoints are read before the tree, which only grows. In the other order, one that another server has
        // just signed could be larger.
        const kept = yield* lastSigned.recall
        // A server without a record first asks the cosigners for theirs, so that it never signs a fork.
        if (Option.isNone(kept)) {
          const held = yield* cosigners.recall(noteOf({ size: 0, root: rootOfNothing }))
          yield* Ref.update(unproved, (before) => [...before, ...held])
        }
        const held = yield* Ref.get(unproved)
        const newest = yield* store.newest
        const tree = yield* running
        const isThis = ({ root, size }: TreeHead) => size === tree.size && equal(root, tree.root)
        const now = yield* Clock.currentTimeMillis
        const isRecent = Option.exists(newest, ({ at }) => now - at.getTime() < confirmEvery)
        const isCovered = Option.exists(newest, isThis)
        return { kept, held, newest, tree, isCovered, isKept: Option.exists(kept, isThis), isRecent }
      })

      /** Fails if the tree does not continue a signed checkpoint, or if another key signed the published one. */
      const checkSigned = Effect.fnUntraced(function* ({ held, kept, newest, tree }: Effect.Success<typeof survey>) {
        yield* checkContinues(tree, [
          ...Option.toArray(newest).map((published): Signed => ["the published checkpoint", published]),
          ...Option.toArray(kept).map((head): Signed => ["the checkpoint this server signed last", head]),
          ...held.map(byCosigner),
        ])
        yield* Ref.set(unproved, [])
        if (Option.exists(newest, (published) => !published.note.startsWith(noteOf(published)))) {
          return yield* contradiction(
            "checkpoints",
            "the published checkpoint is not as this server's key would sign it",
          )
        }
      })

      const publish = Effect.gen(function* () {
        const surveyed = yield* survey
        const { held, isCovered, isKept, isRecent, kept, newest, tree } = surveyed
        const isWaitRecorded = Option.isSome(tree.waits)
        const isIdle = isCovered ? isKept && isRecent : tree.rest > 0
        const mayRest = isIdle && held.length === 0 && (yield* Ref.get(isConfirmed))
        if (mayRest) {
          if (isCovered && isWaitRecorded) yield* wait(null, true)
          if (Option.isSome(newest)) yield* cosignAgain(newest.value)
          return false
        }
        yield* checkSigned(surveyed)
        const maySign = (yield* confirm(newest, kept)) && (isCovered || (yield* store.takeTurn(publishSeconds)))
        if (!maySign) return false
        const note = noteOf(tree)
        // Remembers also what other servers signed, to notice a backup that was restored from before it.
        if (!isKept) yield* lastSigned.remember({ ...tree, note })
        yield* wait(null, isWaitRecorded)
        if (isCovered && !isRecent) yield* store.confirm(tree.size)
        if (isCovered) return false
        yield* store.publish(tree, note + (yield* cosigned(tree, note)).lines)
        return true
      }).pipe(
        Effect.tapErrorTag("LastSignedLost", ({ what }) => wait(`LOG_CHECKPOINT_FILE, which ${what}`)),
        Effect.catchTag("Contradiction", store.stop),
        Effect.withSpan("Pump.publish"),
      )

      return {
        /** Appends at most one batch of settled stones and returns their number; 0 if another server did it. */
        integrate,
        /** Signs the integrated stones as a checkpoint; false when the newest one covers them or is too recent. */
        publish,
      }
    }),
}) {
  /** Without the background loop. */
  static readonly layerNoLoop = (config: PumpConfig) => Layer.effect(Pump, Pump.make(config))

  /** With the background loop. Any number of servers may run it: they build the same tree and sign the same bytes. */
  static readonly layer = (config: PumpConfig) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { integrate, publish } = yield* Pump
        const { reread } = yield* PublishedLog
        const store = yield* LogStore
        const pumped = integrate.pipe(
          Effect.tap(Effect.yieldNow),
          Effect.repeat({ while: (added) => added > 0 }),
          Effect.andThen(publish),
        )
        /** Why the log stopped or waits was logged when it began to. */
        const unlessStopped = (
          work: Effect.Effect<unknown, ChainBroken | LogStopped | LastSignedLost | SqlError.SqlError>,
        ) =>
          work.pipe(
            Effect.catchTag("ChainBroken", ({ message }) =>
              store.stop({ code: "entries", detail: `the chain is broken: ${message}` }),
            ),
            Effect.catchTag(["LogStopped", "LastSignedLost"], () => Effect.void),
            Effect.as(0),
            Effect.tapCause(() => Effect.sleep("4 seconds")),
          )
        yield* DatabaseWatch.sweeping(unlessStopped(pumped), "1 second", "checkpoint publication failed")
        // One bundle a second: a log of a million stones is read in 65 minutes.
        yield* DatabaseWatch.sweeping(unlessStopped(reread), "1 second", "log rereading failed")
      }),
    ).pipe(Layer.provideMerge(Pump.layerNoLoop(config)))
}
