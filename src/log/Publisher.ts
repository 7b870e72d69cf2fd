/** Signs the size of the tree as checkpoints, the log's only statements. Each one continues all earlier ones. */
import { Clock, Context, Effect, Layer, Option, Ref } from "effect"
import { concat, equal } from "../../schema/log/Bytes.ts"
import { consistencyRanges } from "../../schema/log/Merkle.ts"
import { LogStopped, stopped } from "./Alarm.ts"
import { Confirmation } from "./Confirmation.ts"
import { extendsTree } from "./Consistency.ts"
import { Integrator } from "./Integrator.ts"
import { LastSigned } from "./LastSigned.ts"
import type { Published, TreeHead } from "./LogRows.ts"
import { LogStore } from "./LogStore.ts"
import type { Signer } from "./Signer.ts"
import { type HeldCheckpoint, NotWitnessed } from "./LogWitness.ts"
import { pollInterval, repeatStage } from "./StageLoop.ts"
import { because, type StopReason } from "./StopReason.ts"
import { edgeOf, edgePlaces, placesOf, proofOf, rootOf, rootOfNothing } from "./Tree.ts"
import { Witnesses } from "./Witnesses.ts"

export interface Signing {
  readonly signer: Signer
  /** The first line of every checkpoint, for the life of the log. */
  readonly origin: string
}

export interface PublisherConfig extends Signing {
  /** Minimum seconds between two checkpoints, on all servers together. */
  readonly publishSeconds: number
}

/** Milliseconds after which an unchanged log is dated again. An older date means that no server is running. */
const confirmEvery = 600_000

/** The ranges of a consistency proof from an older size. A smaller or empty tree needs none. */
const rangesOf = (old: number, size: number) => (old === 0 || old > size ? [] : consistencyRanges(old, size))

/** The source of an earlier signed checkpoint. */
type Signed =
  | "the published checkpoint"
  | "the checkpoint this server signed last"
  | "the largest checkpoint this server has seen"
  | `the checkpoint that the log witness ${string} holds`

export class Publisher extends Context.Service<Publisher>()("spirit-altar/log/Publisher", {
  make: ({ origin, publishSeconds, signer }: PublisherConfig) =>
    Effect.gen(function* () {
      const store = yield* LogStore
      const lastSigned = yield* LastSigned

      const witnesses = yield* Witnesses
      const confirmation = yield* Confirmation

      /** Checkpoints that witnesses hold and that the log has not yet been shown to continue. */
      const unproved = yield* Ref.make<ReadonlyArray<HeldCheckpoint>>([])
      /** The largest checkpoint this server has seen published. A database rolled back below it shows a smaller one. */
      const largest = yield* Ref.make(Option.none<Published>())

      const byWitness = ({ checkpoint, witness }: HeldCheckpoint) =>
        [`the checkpoint that the log witness ${witness} holds`, checkpoint] as const

      /** Why this tree contradicts an earlier signed checkpoint, if it does. */
      const contradiction = Effect.fnUntraced(function* (
        tree: TreeHead,
        signed: ReadonlyArray<readonly [what: Signed, TreeHead]>,
      ) {
        const ranges = signed.flatMap(([, before]) => rangesOf(before.size, tree.size))
        const read = yield* store.tiles([...edgePlaces(tree.size), ...placesOf(ranges)])
        const edge = edgeOf(tree.size, read)
        if (edge === undefined || !equal(rootOf(edge), tree.root)) {
          return Option.some(
            because("tiles", `the tiles of the ${tree.size} stones of the log do not have the root it was built with`),
          )
        }
        for (const [what, before] of signed) {
          if (before.size > tree.size) {
            return Option.some(
              because(
                "backup",
                `${what} covers ${before.size} stones, but this database has ${tree.size} in its log: a backup was restored, or this is another database`,
              ),
            )
          }
          const proof = proofOf(rangesOf(before.size, tree.size), read)
          if (proof === undefined || !extendsTree(before, tree, proof)) {
            return Option.some(
              because(
                // Only the published checkpoint is in this database. The others are records kept elsewhere.
                what === "the published checkpoint" ? "checkpoints" : "backup",
                `the first ${before.size} stones of the log are not those that ${what} covers`,
              ),
            )
          }
        }
        return Option.none<StopReason>()
      })

      const prove = (size: number) =>
        Effect.fnUntraced(function* (old: number) {
          const ranges = rangesOf(old, size)
          const proof = proofOf(ranges, yield* Effect.orDie(store.tiles(placesOf(ranges))))
          return proof === undefined
            ? yield* new NotWitnessed({ message: "a tile is missing for its proof", isDoubt: false })
            : proof.map((hash) => concat(hash))
        })

      /** Asks the witnesses. A checkpoint that this log signed and that is not part of it proves a fork. */
      const witnessed = Effect.fnUntraced(function* (
        { root, size }: TreeHead,
        note: string,
        how: "cosign" | "vouch" = "cosign",
      ) {
        const checkpoint = { origin, size, root: concat(root), extensions: [] }
        const { held, lines } = yield* witnesses[how]({ note, checkpoint, prove: prove(size) })
        if (held.length > 0) {
          // Read after their checkpoints, so that another server of this log cannot have signed beyond it.
          const tree = yield* store.head
          const wrong = yield* contradiction(tree, held.map(byWitness))
          if (Option.isSome(wrong)) {
            yield* Ref.update(unproved, (before) => [...before, ...held])
            return yield* stopped(store, wrong.value)
          }
        }
        return { lines, isAhead: held.some((one) => one.checkpoint.size >= size) }
      })

      /** Whether a witness knows the newest checkpoint: it signs it again, or holds a later one of this tree. */
      const isWitnessed = (newest: Published) =>
        witnessed(newest, newest.note, "vouch").pipe(
          Effect.map(({ isAhead, lines }) => isAhead || lines !== ""),
          Effect.catchTag("SqlError", Effect.die),
        )

      /** Requests the signatures that a published checkpoint lacks. */
      const witnessAgain = Effect.fnUntraced(function* (published: Published) {
        if (!(yield* witnesses.isDue(published.note))) return
        const { lines } = yield* witnessed(published, published.note)
        if (lines !== "") yield* store.cosign(published.size, published.note, published.note + lines)
      })

      const noteOf = ({ root, size }: TreeHead) =>
        signer.note({ origin, size, root: Uint8Array.from(root), extensions: [] })

      const publish = Effect.gen(function* () {
        // Signed checkpoints are read before the tree, which only grows. In the other order another server's could be
        // larger.
        const kept = yield* lastSigned.recall
        // A server without a record first asks the witnesses for theirs, so that it never signs a fork.
        if (Option.isNone(kept)) {
          const held = yield* witnesses.recall(noteOf({ size: 0, root: rootOfNothing }))
          yield* Ref.update(unproved, (before) => [...before, ...held])
        }
        const held = yield* Ref.get(unproved)
        const newest = yield* store.newest
        const seen = yield* Ref.updateAndGet(largest, (before) =>
          Option.exists(
            newest,
            ({ size }) => size >= Option.match(before, { onNone: () => 0, onSome: (one) => one.size }),
          )
            ? newest
            : before,
        )
        const tree = yield* store.head
        if (Option.isSome(tree.stopped)) return yield* new LogStopped({ reason: tree.stopped.value.reason })
        const isThis = ({ root, size }: TreeHead) => size === tree.size && equal(root, tree.root)
        const isCovered = Option.exists(newest, isThis)
        const isKnown = !lastSigned.isKept || Option.exists(kept, isThis)
        const now = yield* Clock.currentTimeMillis
        const isRecent = Option.exists(newest, ({ at }) => now - at.getTime() < confirmEvery)
        const isGiven = yield* confirmation.isGiven
        const isIdle = isCovered ? isKnown && isRecent : tree.rest > 0
        if (isGiven && isIdle && held.length === 0) {
          if (Option.isSome(newest)) yield* witnessAgain(newest.value)
          return false
        }
        const signed = [
          ...Option.toArray(newest).map((one) => ["the published checkpoint", one] as const),
          ...Option.toArray(kept).map((one) => ["the checkpoint this server signed last", one] as const),
          ...Option.toArray(seen).map((one) => ["the largest checkpoint this server has seen", one] as const),
          ...held.map(byWitness),
        ]
        const wrong = yield* contradiction(tree, signed)
        if (Option.isSome(wrong)) return yield* stopped(store, wrong.value)
        yield* Ref.set(unproved, [])
        if (Option.exists(newest, (one) => !one.note.startsWith(noteOf(one)))) {
          return yield* stopped(
            store,
            because("checkpoints", "the published checkpoint is not as this server's key would sign it"),
          )
        }
        const file = lastSigned.isKept ? Option.some(kept) : Option.none()
        const hasWitnesses = Option.exists(witnesses.policy, (policy) => policy.witnesses.some(({ url }) => url))
        const { isAnyHeard } = witnesses
        if (!(yield* confirmation.settle({ newest, file, hasWitnesses, isAnyHeard, isWitnessed }))) return false
        if (!isCovered && !(yield* store.takeTurn(publishSeconds))) return false
        const note = noteOf(tree)
        // Includes checkpoints of other servers: each server must know them when a restored backup does not.
        if (!isKnown) yield* lastSigned.remember(note)
        if (isCovered) {
          if (!isRecent) yield* store.confirm(tree.size)
          return false
        }
        yield* store.publish(tree, note + (yield* witnessed(tree, note)).lines)
        return true
      }).pipe(
        Effect.catchTag("SqlError", (error) => Effect.die(error)),
        Effect.withSpan("Publisher.publish"),
      )

      /** Publishes a checkpoint of the integrated entries; false when the newest one covers them or is too recent. */
      return { publish }
    }),
}) {
  /** Publishes only when called. */
  static readonly layerNoLoop = (config: PublisherConfig) => Layer.effect(Publisher, Publisher.make(config))

  /** Publishes in a loop. Any number of servers may, since the same tree is signed with the same bytes. */
  static readonly layer = (config: PublisherConfig) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { publish } = yield* Publisher
        const { grown } = yield* Integrator
        // A stopped log has raised its own alarm.
        const work = Effect.catchTag(publish, "LogStopped", () => Effect.void)
        yield* repeatStage(work, "checkpoint publication failed", grown.wait(pollInterval))
      }),
    ).pipe(Layer.provideMerge(Publisher.layerNoLoop(config)))
}
