/** The public view of a log: at most what its newest checkpoint covers, and only data that folds to its root. */
import { Context, Effect, Layer, Option, Ref, Schema } from "effect"
import { concat, equal } from "../../schema/log/Bytes.ts"
import { hashSize, inclusionRanges } from "../../schema/log/Merkle.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { type Bundle, bundleBytes, fullWidth, type Tile, widthAt } from "../../schema/log/Tile.ts"
import { stopped } from "./Alarm.ts"
import { Entries } from "./Entries.ts"
import type { Path, Published } from "./LogRows.ts"
import { LogStore } from "./LogStore.ts"
import type { Signing } from "./Publisher.ts"
import { because } from "./StopReason.ts"
import * as TileMemo from "./TileMemo.ts"
import { isWitnessed, noWitnesses, Witnesses } from "./Witnesses.ts"
import { isSound, leafAt, leafOf, proofOf, type TileReader } from "./Tree.ts"

/** The newest checkpoint does not cover it, or not yet. */
export class NotPublished extends Schema.TaggedError<NotPublished>()("NotPublished", {}) {}

export interface LogIdentity {
  readonly origin: string
  /** The verifier key, `name+hash+base64`. */
  readonly vkey: string
}

export class EntryUnknown extends Schema.TaggedError<EntryUnknown>()("EntryUnknown", {}) {}

/** A `.tlog-proof` file. */
export interface EntryProofFile {
  readonly text: string
  readonly sequence: number
  /** Whether the quorum of the log's policy has signed. A reader needs no later proof. */
  readonly isFinal: boolean
}

export class PublishedLog extends Context.Service<PublishedLog>()("spirit-altar/log/PublishedLog", {
  make: ({ origin, signer }: Signing) =>
    Effect.gen(function* () {
      const store = yield* LogStore
      const entries = yield* Entries
      const witnesses = yield* Witnesses
      const genuine = yield* Ref.make<Published | undefined>(undefined)
      const hashOf = TileMemo.make()
      const hasQuorum = Option.exists(witnesses.policy, ({ quorum }) => quorum !== "none")

      /** Verifies a checkpoint. The key signs the same bytes each time, so a changed row does not match. */
      const checked = Effect.fnUntraced(function* (published: Option.Option<Published>) {
        if (Option.isNone(published)) return yield* new NotPublished({})
        const { note, root, size } = published.value
        const known = yield* Ref.get(genuine)
        if (known?.note === note && known.size === size && equal(known.root, root)) return published.value
        const own = signer.note({ origin, size, root: concat(root), extensions: [] })
        if (!note.startsWith(own) || Option.isNone(witnesses.cosigned(note)))
          return yield* stopped(store, because("checkpoints", `the checkpoint of ${size} stones is not as signed`))
        yield* Ref.set(genuine, published.value)
        return published.value
      })

      /** The newest checkpoint. Its note is the signed text. */
      const checkpoint = store.newest.pipe(Effect.flatMap(checked), Effect.catchTag("SqlError", Effect.die))

      /** The tiles above a leaf, verified against the checkpoint's root. */
      const pathTo = Effect.fnUntraced(function* (leaf: number) {
        if (!Number.isSafeInteger(leaf)) return yield* new NotPublished({})
        return yield* soundPath(yield* store.path(leaf), leaf)
      })

      const soundPath = Effect.fnUntraced(function* (found: Option.Option<Path>, leaf: number) {
        const published = yield* checked(Option.map(found, (path) => path.published))
        if (Option.isNone(found) || leaf >= published.size) return yield* new NotPublished({})
        const { read } = found.value
        if (!isSound(published, leaf, read, hashOf)) {
          return yield* stopped(
            store,
            because("tiles", `the tiles above stone ${leaf + 1} are not those of the published checkpoint`),
          )
        }
        return { published, read }
      })

      const cut = (read: TileReader, tile: Tile) =>
        concat(read(tile)?.subarray(0, tile.width * hashSize) ?? new Uint8Array())

      const tile = Effect.fn("PublishedLog.tile")(
        function* (wanted: Tile) {
          const { published, read } = yield* pathTo(wanted.index * fullWidth ** (wanted.level + 1))
          return wanted.width > widthAt(published.size, wanted) ? yield* new NotPublished({}) : cut(read, wanted)
        },
        Effect.catchTag("SqlError", Effect.die),
      )

      /** Entries in the format of tlog-tiles, verified against their tile. */
      const bundle = Effect.fn("PublishedLog.bundle")(
        function* ({ index, width }: Bundle) {
          const from = index * fullWidth
          const { published, read } = yield* pathTo(from)
          if (width > widthAt(published.size, { level: 0, index })) return yield* new NotPublished({})
          const { entries: found } = yield* entries.segment(from + 1, width)
          const leaves = concat(...found.map(({ bytes }) => leafOf(bytes)))
          if (!equal(leaves, cut(read, { level: 0, index, width }))) {
            return yield* stopped(
              store,
              because("entries", `stones from ${from + 1} to ${from + width} are not those that the log holds`),
            )
          }
          return bundleBytes(found.map(({ bytes }) => bytes))
        },
        Effect.catchTag("SqlError", Effect.die),
      )

      /** The `.tlog-proof` of an entry by its UUID, an inclusion proof with its checkpoint, in one round trip. */
      const proof = Effect.fn("PublishedLog.proof")(
        function* (id: string) {
          const found = yield* store.entryPath(entries.find(id))
          if (Option.isNone(found)) return yield* new EntryUnknown({})
          const { entry, path } = found.value
          if (Option.isNone(entry)) return yield* new NotPublished({})
          const { sequence } = entry.value
          const bytes = yield* entries.read(entry.value)
          const index = sequence - 1
          const { published, read } = yield* soundPath(path, index)
          const leaf = leafAt(index, read)
          const hashes = proofOf(inclusionRanges(index, published.size), read, hashOf)
          if (leaf === undefined || hashes === undefined || !equal(leaf, leafOf(bytes))) {
            return yield* stopped(store, because("entries", `stone ${sequence} is not the one that the log holds`))
          }
          const { note } = published
          const exact = hashes.map((hash) => concat(hash))
          return {
            text: proofFileText({ extra: undefined, index, hashes: exact, checkpoint: note }),
            sequence,
            isFinal: hasQuorum && isWitnessed(witnesses, note),
          }
        },
        Effect.catchTag("SqlError", Effect.die),
      )

      const head = Effect.catchTag(store.head, "SqlError", Effect.die)
      const identity: LogIdentity = { origin, vkey: signer.vkey }
      return {
        /** The log's origin and public key; none if this server has no log. */
        identity: Option.some(identity),
        /** Why nothing new is covered any more, if the log is stopped. */
        stopped: Effect.map(head, ({ stopped }) => Option.map(stopped, ({ reason }) => reason)),
        /** Seconds until the next checkpoint is due. */
        rest: Effect.map(head, ({ rest }) => rest),
        checkpoint,
        tile,
        bundle,
        proof,
        /** The log's witnesses: signers under a checkpoint's note, and their policy. */
        witnesses,
      }
    }),
}) {
  /** For a server without a key. */
  static readonly none = Layer.succeed(PublishedLog, {
    identity: Option.none(),
    stopped: Effect.succeedNone,
    rest: Effect.succeed(0),
    checkpoint: Effect.fail(new NotPublished({})),
    tile: () => Effect.fail(new NotPublished({})),
    bundle: () => Effect.fail(new NotPublished({})),
    proof: () => Effect.fail(new NotPublished({})),
    witnesses: noWitnesses,
  })

  static readonly layer = (config: Signing) => Layer.effect(PublishedLog, PublishedLog.make(config))
}
