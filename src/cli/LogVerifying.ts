/** An independent check of a whole log: every entry, every tile and every root derived anew, in constant memory. */
import { Console, Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { HttpClient } from "effect/http"
import { base64, equal, hex, Malformed } from "../../schema/log/Bytes.ts"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { parseEntry } from "../../schema/log/Entry.ts"
import { type Bundle, bundlePath, fullWidth, parseBundle, type Tile, tilePath, widthAt } from "../../schema/log/Tile.ts"
import type { Checkpoint } from "../../schema/log/Checkpoint.ts"
import { openCheckpoint } from "../buyer/log/SignedCheckpoint.ts"
import { append, type Edge, leafOf, rootOf, sha256, tileBytes } from "../log/Tree.ts"
import { folderOf } from "./Session.ts"
import { plain } from "./Output.ts"
import { Trouble } from "./Trouble.ts"

export interface LogCheck {
  /** Public URL of the altar, without slashes at its end. */
  readonly base: string
  /** The log's verifier key; the one that is remembered, or else the server's own word, when absent. */
  readonly vkey: Option.Option<string>
  /** Where the last checkpoint that was believed is remembered. */
  readonly seen: Option.Option<string>
}

/** What was believed last: the key, and the note. */
const Seen = Schema.fromJsonString(Schema.Struct({ vkey: Schema.String, checkpoint: Schema.String }))

const Status = Schema.Struct({ vkey: Schema.String })

const Segment = Schema.Struct({ entries: Schema.Array(Schema.Struct({ chainHash: Schema.String })) })

const broken = (what: string) => new Trouble({ message: plain(`THE LOG IS BROKEN: ${what}`) })

const get = (address: string) =>
  HttpClient.get(address).pipe(
    Effect.flatMap((response) =>
      Effect.map(response.arrayBuffer, (bytes) => ({ status: response.status, bytes: new Uint8Array(bytes) })),
    ),
    Effect.mapError((error) => new Trouble({ message: `${address} could not be read: ${error.message}` })),
    Effect.filterOrFail(
      ({ status }) => status === 200,
      ({ status }) => new Trouble({ message: `${address} was answered ${status}.` }),
    ),
    Effect.map(({ bytes }) => bytes),
  )

const text = (address: string) => Effect.map(get(address), (bytes) => new TextDecoder().decode(bytes))

const json = <A>(address: string, schema: Schema.Decoder<A>) =>
  Effect.flatMap(text(address), (body) =>
    Effect.mapError(
      Schema.decodeEffect(Schema.fromJsonString(schema))(body),
      () => new Trouble({ message: `${address} is not what an altar answers.` }),
    ),
  )

const open = (note: string, vkey: string) =>
  Effect.flatMap(
    Effect.promise(() => openCheckpoint(note, { vkey })),
    (opened) => (opened.ok ? Effect.succeed(opened.checkpoint) : broken(opened.reason)),
  )

const recall = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(file), () => false))) return Option.none<typeof Seen.Type>()
  return yield* fs.readFileString(file).pipe(
    Effect.flatMap(Schema.decodeEffect(Seen)),
    Effect.asSome,
    Effect.mapError(() => new Trouble({ message: `${file} is not what an earlier check left there.` })),
  )
})

const remember = Effect.fnUntraced(
  function* (file: string, seen: typeof Seen.Type) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFileString(`${file}.half`, JSON.stringify(seen))
    yield* fs.rename(`${file}.half`, file)
  },
  Effect.mapError(
    () => new Trouble({ message: "What was checked cannot be remembered: name another file with --seen." }),
  ),
)

/** The tree so far, and of each level what its last tile gained; a full tile is compared and forgotten. */
interface Walk {
  readonly size: number
  readonly edge: Edge
  readonly chainHash: string
}

const walkStart: Walk = { size: 0, edge: [], chainHash: genesisHash }

/** Says how far it is after this many bundles. */
const progressEvery = 40

/** Walks the log of a checkpoint; `old` is the earlier one that it has to continue. */
const walk = Effect.fn("LogVerifying.walk")(function* (
  base: string,
  { root, size }: Checkpoint,
  old: Option.Option<Checkpoint>,
) {
  const tileAt = (tile: Tile) => get(`${base}/log/${tilePath(tile)}`)
  const bundles = Array.from({ length: Math.ceil(size / fullWidth) }, (_, index): Bundle => ({
    index,
    width: widthAt(size, { level: 0, index }),
  }))

  const entriesOf = Effect.fnUntraced(function* (bundle: Bundle) {
    const path = bundlePath(bundle)
    const entries = parseBundle(yield* get(`${base}/log/${path}`))
    if (entries instanceof Malformed) return yield* broken(`${path}: ${entries.message}`)
    if (entries.length !== bundle.width) return yield* broken(`${path} has ${entries.length} entries.`)
    return entries
  })

  /** A tile as the walk derived it is the one that is served. */
  const compare = Effect.fnUntraced(function* (tile: Tile, derived: Uint8Array) {
    if (!equal(yield* tileAt(tile), derived)) return yield* broken(`${tilePath(tile)} is not the hash of its entries.`)
  })

  const checkEntries = Effect.fnUntraced(function* (entries: ReadonlyArray<Uint8Array>, before: Walk) {
    let { chainHash, size: at } = before
    for (const entry of entries) {
      at += 1
      const link = parseEntry(entry)
      if (link instanceof Malformed) return yield* broken(`entry ${at}: ${link.message}`)
      if (link.sequence !== at || link.previousHash !== chainHash) {
        return yield* broken(`entry ${at} does not follow the one before it.`)
      }
      chainHash = hex(sha256(entry))
    }
    return chainHash
  })

  const grow = Effect.fnUntraced(function* (before: Walk, entries: ReadonlyArray<Uint8Array>) {
    const chainHash = yield* checkEntries(entries, before)
    const leaves = entries.map(leafOf)
    // Where the earlier checkpoint ends, this tree must have had its root.
    const at = Option.match(old, { onNone: () => 0, onSome: (one) => one.size - before.size })
    if (at > 0 && at <= leaves.length && Option.isSome(old)) {
      const then = append(before.edge, before.size, leaves.slice(0, at))
      if (!equal(rootOf(then.edge), old.value.root)) {
        return yield* broken(
          `its first ${old.value.size} stones are not those of the checkpoint seen before (root ${base64(old.value.root)}): the history was rewritten.`,
        )
      }
    }
    const { edge, growths } = append(before.edge, before.size, leaves)
    const after: Walk = { size: before.size + leaves.length, edge, chainHash }
    for (const { hashes, index, level, start } of growths) {
      const full = [...(before.edge[level] ?? []).slice(0, start), ...hashes]
      if (full.length === fullWidth) yield* compare({ level, index, width: full.length }, tileBytes(full))
    }
    return after
  })

  const walked = yield* Stream.fromIterable(bundles).pipe(
    Stream.mapEffect(entriesOf, { concurrency: 8 }),
    Stream.runFoldEffect(
      () => walkStart,
      (before, entries) =>
        Effect.tap(grow(before, entries), (after) =>
          (after.size / fullWidth) % progressEvery === 0
            ? Console.log(`  ${after.size} of ${size} entries hold`)
            : Effect.void,
        ),
    ),
  )
  // The edge of every level is served, too, whether the last entries changed it or not.
  for (const [level, hashes] of walked.edge.entries()) {
    const index = Math.floor(size / fullWidth ** (level + 1))
    if (hashes.length > 0) yield* compare({ level, index, width: hashes.length }, tileBytes(hashes))
  }
  if (!equal(rootOf(walked.edge), root)) return yield* broken("its entries do not have the root that was signed.")
  return walked
})

/** One file for each altar, beside the journal. */
const seenOf = Effect.fnUntraced(function* (base: string) {
  const path = yield* Path.Path
  const folder = yield* folderOf(Option.none())
  return path.join(folder, "checkpoints", `${base.replace(/^https?:\/\//u, "").replaceAll(/[^\w.-]/gu, "_")}.json`)
})

/** Checks a whole log, and that it continues the one of the last check. */
export const verifyLog = Effect.fn("verifyLog")(function* ({ base, seen, vkey: named }: LogCheck) {
  const file = Option.isSome(seen) ? seen.value : yield* seenOf(base)
  const before = yield* recall(file)
  const known = Option.orElse(named, () => Option.map(before, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : (yield* json(`${base}/api/witness/log`, Status)).vkey
  if (Option.isSome(before) && before.value.vkey !== vkey) {
    return yield* broken(`the key is ${vkey}, and the one of the last check was ${before.value.vkey}.`)
  }
  const note = yield* text(`${base}/log/checkpoint`)
  const checkpoint = yield* open(note, vkey)
  const old = Option.isNone(before)
    ? Option.none<Checkpoint>()
    : Option.some(yield* open(before.value.checkpoint, vkey))
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    return yield* broken(`it had ${old.value.size} stones at the last check and has ${checkpoint.size} now.`)
  }
  const { chainHash, size } = yield* walk(base, checkpoint, old)
  if (size > 0) {
    const { entries } = yield* json(`${base}/api/witness/chain?from=${size}&limit=1`, Segment)
    if (entries[0]?.chainHash !== chainHash)
      return yield* broken(`stone ${size} of the chain is not the one of the log.`)
  }
  yield* remember(file, { vkey, checkpoint: note })
  yield* Console.log(
    plain(
      `${size} entries of ${checkpoint.origin}: every tile and the signed root derive from them, and the chain is the same.`,
    ),
  )
  yield* Console.log(
    Option.match(old, {
      onNone: () => `This is the first checkpoint seen here; ${file} remembers it for the next check.`,
      onSome: (one) => `It continues the ${one.size} stones of the last check (${file}).`,
    }),
  )
  if (Option.isNone(known)) {
    yield* Console.log(plain(`The key was the server's own word: ${vkey}. Compare it, or name it with --vkey.`))
  }
})
