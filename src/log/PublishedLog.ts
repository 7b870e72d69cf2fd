/** The public view of a log: at most what its newest checkpoint covers, and only data that folds to its root. */
import { Context, Effect, Layer, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { concat, equal } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { hashSize, inclusionRanges } from "../../schema/log/Merkle.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { type Bundle, bundleBytes, fullWidth, type Tile, widthAt } from "../../schema/log/Tile.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { contradiction, type LogState, LogStore, type Path, type Published, stateOf } from "./LogStore.ts"
import type { Signer } from "./Signer.ts"
import { isCosigned, noCosigners, Cosigners } from "./Cosigners.ts"
import { isSound, leafAt, leafOf, proofOf, tileMemo, type TileReader } from "./Tree.ts"

/** The newest checkpoint does not cover it, or not yet. */
export class NotPublished extends Schema.TaggedError<NotPublished>()("NotPublished", {}) {}

export class EntryUnknown extends Schema.TaggedError<EntryUnknown>()("EntryUnknown", {}) {}

export interface LogIdentity {
  readonly origin: string
  /** The verifier key, `name+hash+base64`. */
  readonly vkey: string
}

export interface Signing {
  readonly signer: Signer
  /** The first line of every checkpoint, for the life of the log. */
  readonly origin: string
}

export class PublishedLog extends Context.Service<PublishedLog>()("spirit-altar/log/PublishedLog", {
  make: ({ origin, signer }: Signing) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const store = yield* LogStore
      const chain = yield* WitnessChain
      const cosigners = yield* Cosigners
      const genuine = yield* Ref.make<Published | undefined>(undefined)
      const nextBundle = yield* Ref.make(0)
      const hashOf = tileMemo()
      const hasQuorum = Option.exists(cosigners.policy, ({ quorum }) => quorum !== "none")

      /** Verifies a checkpoint. The key signs the same bytes each time, so a changed row does not match. */
      const checked = Effect.fnUntraced(function* (published: Option.Option<Published>) {
        if (Option.isNone(published)) return yield* new NotPublished({})
        const { note, root, size } = published.value
        const last = yield* Ref.get(genuine)
        if (last?.note === note && last.size === size && equal(last.root, root)) return published.value
        const own = signer.note({ origin, size, root: concat(root), extensions: [] })
        if (!note.startsWith(own) || Option.isNone(cosigners.cosigned(note))) {
          return yield* contradiction("checkpoints", `the checkpoint of ${size} stones is not as signed`)
        }
        yield* Ref.set(genuine, published.value)
        return published.value
      })

      /** The newest checkpoint and the tiles above a leaf, verified against its root. */
      const soundPath = Effect.fnUntraced(function* (stored: Option.Option<Path>, leaf: number) {
        const published = yield* checked(Option.map(stored, (path) => path.published))
        if (Option.isNone(stored) || leaf >= published.size) return yield* new NotPublished({})
        const { tileAt } = stored.value
        if (isSound(published, leaf, tileAt, hashOf)) return { published, tileAt }
        return yield* contradiction(
          "tiles",
          `the tiles above stone ${leaf + 1} are not those of the published checkpoint`,
        )
      })

      const pathTo = Effect.fnUntraced(function* (leaf: number) {
        if (!Number.isSafeInteger(leaf)) return yield* new NotPublished({})
        const row = yield* store.path(sql`SELECT ${leaf + 1}::bigint AS sequence, ARRAY[]::text[] AS parts`)
        return yield* soundPath(
          Option.flatMap(row, ({ path }) => path),
          leaf,
        )
      })

      const cut = (tileAt: TileReader, tile: Tile) =>
        concat(tileAt(tile)?.subarray(0, tile.width * hashSize) ?? new Uint8Array())

      const tile = Effect.fn("PublishedLog.tile")(
        function* (wanted: Tile) {
          const { published, tileAt } = yield* pathTo(wanted.index * fullWidth ** (wanted.level + 1))
          return wanted.width > widthAt(published.size, wanted) ? yield* new NotPublished({}) : cut(tileAt, wanted)
        },
        Effect.catchTag("Contradiction", store.stop),
      )

      /** Entries in the format of tlog-tiles, verified against their tile. */
      const bundle = Effect.fn("PublishedLog.bundle")(
        function* ({ index, width }: Bundle) {
          const from = index * fullWidth
          const { published, tileAt } = yield* pathTo(from)
          if (width > widthAt(published.size, { level: 0, index })) return yield* new NotPublished({})
          const { links } = yield* chain.segment(from + 1, width)
          const entries = links.map(entryOf)
          if (equal(concat(...entries.map(leafOf)), cut(tileAt, { level: 0, index, width })))
            return bundleBytes(entries)
          return yield* contradiction(
            "entries",
            `stones from ${from + 1} to ${from + width} are not those that the log holds`,
          )
        },
        Effect.catchTag("Contradiction", store.stop),
      )

      /** The `.tlog-proof` of an entry by its UUID, an inclusion proof with its checkpoint, in one round trip. */
      const proof = Effect.fn("PublishedLog.proof")(
        function* (id: string) {
          const row = yield* store.path(sql`
          SELECT sequence, ARRAY[previous_hash, commitment, witnessed_at, transaction, chain_hash] AS parts
          FROM (${chain.linkOf(id)}) l`)
          if (Option.isNone(row)) return yield* new EntryUnknown({})
          const { parts, path, sequence } = row.value
          if (sequence === null) return yield* new NotPublished({})
          const [previousHash = "", commitment = "", witnessedAt = "", transaction = "", chainHash = ""] = parts
          const link = { previousHash, sequence, commitment, witnessedAt, transaction }
          // A single stone proves its own link.
          yield* chain.check([{ ...link, chainHash }], { sequence: sequence - 1, chainHash: previousHash })
          const index = sequence - 1
          const { published, tileAt } = yield* soundPath(path, index)
          const leaf = leafAt(index, tileAt)
          const hashes = proofOf(inclusionRanges(index, published.size), tileAt, hashOf)
          if (leaf === undefined || hashes === undefined || !equal(leaf, leafOf(entryOf(link)))) {
            return yield* contradiction("entries", `stone ${sequence} is not the one that the log holds`)
          }
          const { note } = published
          const exact = hashes.map((hash) => concat(hash))
          return {
            text: proofFileText({ extra: undefined, index, hashes: exact, checkpoint: note }),
            sequence,
            /** Whether the quorum of the log's policy has signed. A reader needs no later proof. */
            isFinal: hasQuorum && isCosigned(cosigners, note),
          }
        },
        Effect.catchTag("Contradiction", store.stop),
      )

      /** The newest checkpoint. Its note is the signed text. */
      const checkpoint = store.newest.pipe(Effect.flatMap(checked), Effect.catchTag("Contradiction", store.stop))

      const identity: LogIdentity = { origin, vkey: signer.vkey }
      return {
        /** The log's origin and public key; none if this server has no log. */
        identity: Option.some(identity),
        state: Effect.map(store.head, stateOf),
        checkpoint,
        tile,
        bundle,
        proof,
        /** Reads the next bundle again, so that a changed row is found though its file is in memory. */
        reread: Effect.gen(function* () {
          const { size } = yield* checkpoint
          const index = yield* Ref.modify(nextBundle, (at) => {
            const now = at * fullWidth < size ? at : 0
            return [now, now + 1]
          })
          const width = widthAt(size, { level: 0, index })
          if (width > 0) yield* bundle({ index, width })
        }).pipe(Effect.catchTag("NotPublished", () => Effect.void)),
        /** The log's cosigners: signers under a checkpoint's note, and their policy. */
        cosigners,
      }
    }),
}) {
  /** For a server without a key. */
  static readonly none = Layer.sync(PublishedLog, () => {
    const nothing = Effect.fail(new NotPublished({}))
    return {
      identity: Option.none(),
      state: Effect.succeed<LogState>({ state: "running", waitsFor: null, since: null }),
      checkpoint: nothing,
      tile: () => nothing,
      bundle: () => nothing,
      proof: () => nothing,
      reread: Effect.void,
      cosigners: noCosigners,
    }
  })

  static readonly layer = (config: Signing) => Layer.effect(PublishedLog, PublishedLog.make(config))
}
