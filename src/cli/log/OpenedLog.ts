/** A log's newest checkpoint beside the one that this machine remembers of it. */
import { Effect, Option, Schema } from "effect"
import { equal } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { consistencyRanges } from "../../../schema/log/Merkle.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { provided } from "../Flags.ts"
import { extendsTree } from "../../log/Consistency.ts"
import { hashOfRange, proofOf } from "../../log/Tree.ts"
import { plain } from "../Output.ts"
import * as Download from "../verify/Download.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { broken, type LogSource, textOf, tilesOf } from "./LogSource.ts"
import * as LogMemory from "./Memory.ts"

export interface LogCheck {
  readonly source: LogSource
  /** The log's verifier key; when absent, the remembered one, or else the altar's own word. */
  readonly vkey: Option.Option<string>
  /** The first line of its checkpoints, when that is not the name of the key. */
  readonly origin?: Option.Option<string>
  /** The policy whose cosignatures the newest checkpoint must have. */
  readonly policy: Option.Option<Policy>
  /** The file of the last trusted checkpoint. */
  readonly seen: Option.Option<string>
  /** A checkpoint that counts as the last one where that file is missing. */
  readonly copied?: Option.Option<string>
}

const Status = Schema.Struct({ vkey: Schema.String })

/** The altar whose log this is; other logs name no key. */
export const altarOf = ({ name }: LogSource): Option.Option<string> =>
  /^https?:.*\/log$/u.test(name) ? Option.some(name.slice(0, -"/log".length)) : Option.none()

export const ownWord = (source: LogSource) =>
  Option.match(altarOf(source), {
    onNone: () =>
      Effect.fail(new CommandFailure({ message: `Name the key of ${source.name} with --vkey or --policy.` })),
    onSome: (base) => Effect.map(Download.json(`${base}/api/witness/log`, Status), ({ vkey }) => vkey),
  })

export const open = (note: string, trust: Trust) =>
  Effect.flatMap(
    Effect.promise(() => openCheckpoint(note, trust)),
    (opened) =>
      opened.ok
        ? Effect.succeed(opened)
        : // The reader's own keys are at fault, and not the log.
          Effect.fail(
            opened.fault === "key" ? new CommandFailure({ message: plain(opened.reason) }) : broken(opened.reason),
          ),
  )

/** Compares two trees by the served tiles. Missing or wrong tiles prove nothing. */
export const wayBetween = Effect.fnUntraced(
  function* (source: LogSource, older: Checkpoint, newer: Checkpoint) {
    const sameAs = (root: Uint8Array) => (equal(root, older.root) ? "continues" : "differs")
    if (older.size === 0) return "continues"
    if (older.size === newer.size) return sameAs(newer.root)
    const [first, ranges] = [{ from: 0, to: older.size }, consistencyRanges(older.size, newer.size)]
    const read = yield* tilesOf(source, [first, ...ranges], newer.size)
    const [root, proof] = [hashOfRange(first, read), proofOf(ranges, read)]
    if (root === undefined || proof === undefined) return "unknown"
    return extendsTree({ size: older.size, root }, newer, proof) ? sameAs(root) : "unknown"
  },
  Effect.orElseSucceed(() => "unknown" as const),
)

type Memory = Effect.Success<ReturnType<typeof LogMemory.make>>

/** Keeps a second signed checkpoint on this machine, and says where both are. */
const keepBoth = (memory: Memory, note: string, checkpoint: Checkpoint, what: string) =>
  Effect.match(memory.keep(note, checkpoint), {
    onFailure: () => `${what} The new checkpoint could not be written beside ${memory.file}: save it, and keep both.`,
    onSuccess: (file) => `${what} Keep both signed checkpoints: ${memory.file} and ${file}.`,
  })

/** Two notes signed with one key, neither of which continues the other, prove a fork. */
export const contradicted = (...of: Parameters<typeof keepBoth>) => Effect.flatMap(keepBoth(...of), broken)

/** Two notes without the way between them prove neither a fork nor that all is well. */
export const incomparable = (...of: Parameters<typeof keepBoth>) =>
  Effect.flatMap(
    keepBoth(...of),
    (message) => new CommandFailure({ message: plain(`NOT COMPARABLE: ${message} ${noWay}`) }),
  )

const noWay = "The log does not show that one continues the other, so nothing is proved either way."

const sameKey = ({ file }: Memory, before: LogMemory.SeenCheckpoint, vkey: string) =>
  before.vkey === vkey
    ? Effect.void
    : broken(
        `the key is ${vkey}, and the one of the last check was ${before.vkey}. If its operator has announced a new log with a new key, name another file with --seen, or remove ${file}; else keep that file.`,
      )

/** The name of an altar stands for its log. */
const memoryOf = (source: LogSource, seen: Option.Option<string>) =>
  LogMemory.make(
    Option.getOrElse(altarOf(source), () => source.name),
    seen,
  )

/** Opens the newest checkpoint: correctly signed, and no smaller than that of the last check. */
export const openLog = Effect.fn("openLog")(function* ({
  copied = Option.none(),
  origin = Option.none(),
  policy,
  seen,
  source,
  vkey: named,
}: LogCheck) {
  const memory = yield* memoryOf(source, seen)
  const before = yield* memory.seen
  const known = Option.orElse(named, () => Option.map(before, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : yield* ownWord(source)
  if (Option.isSome(before)) yield* sameKey(memory, before.value, vkey)
  const note = yield* textOf(source, "checkpoint")
  const trust = { vkey, ...provided({ origin }) }
  const { checkpoint, cosignatures, unchecked } = yield* open(note, { ...trust, ...provided({ witnesses: policy }) })
  const last = Option.orElse(
    Option.map(before, (seenBefore) => seenBefore.checkpoint),
    () => copied,
  )
  const old = Option.isNone(last) ? Option.none<Checkpoint>() : Option.some((yield* open(last.value, trust)).checkpoint)
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    const what = `it had ${old.value.size} entries at the last check and has ${checkpoint.size} now.`
    const way = yield* wayBetween(source, checkpoint, old.value)
    if (way === "unknown") return yield* incomparable(memory, note, checkpoint, what)
    return yield* way === "continues"
      ? broken(`${what} If a cache on the way is old, check again later; a log never shrinks.`)
      : contradicted(memory, note, checkpoint, `${what} They do not begin with the same entries.`)
  }
  const isNamed = Option.isSome(named) || Option.exists(policy, ({ logs }) => logs.includes(vkey))
  return { source, memory, before, vkey, trust, isNamed, note, checkpoint, cosignatures, unchecked, old }
})

export type OpenedLog = Effect.Success<ReturnType<typeof openLog>>

/** A concurrent check may have ended first: the larger checkpoint is remembered, if it continues the smaller. */
export const remember = Effect.fnUntraced(function* ({
  before,
  checkpoint,
  isNamed,
  memory,
  note,
  source,
  trust,
  vkey,
}: OpenedLog) {
  const now = yield* memory.seen
  const isItsOwnWord = !isNamed && Option.getOrElse(now, () => ({ isItsOwnWord: true })).isItsOwnWord !== false
  const mine = { vkey, checkpoint: note, isItsOwnWord }
  const other = Option.filter(now, (one) => !Option.exists(before, (was) => was.checkpoint === one.checkpoint))
  if (Option.isNone(other)) return yield* Effect.as(memory.remember(mine), isItsOwnWord)
  yield* sameKey(memory, other.value, vkey)
  const theirs = (yield* open(other.value.checkpoint, trust)).checkpoint
  const [older, newer] = theirs.size > checkpoint.size ? [checkpoint, theirs] : [theirs, checkpoint]
  const way = yield* wayBetween(source, older, newer)
  const what = `another check has seen a checkpoint of ${theirs.size} entries, and this one has ${checkpoint.size}.`
  if (way === "unknown") return yield* incomparable(memory, note, checkpoint, what)
  if (way === "differs") return yield* contradicted(memory, note, checkpoint, `${what} Neither continues the other.`)
  yield* memory.remember(newer === theirs ? { ...mine, checkpoint: other.value.checkpoint } : mine)
  return isItsOwnWord
})
