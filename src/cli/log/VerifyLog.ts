/** An independent check of a whole log: that it matches the chain, and continues the log of the last check. */
import { Console, Effect, Option, Schema } from "effect"
import { base64, equal } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { consistencyRanges } from "../../../schema/log/Merkle.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { tilePath, widthAt } from "../../../schema/log/Tile.ts"
import { openCheckpoint, type Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { provided } from "../Flags.ts"
import { extendsTree } from "../../log/Consistency.ts"
import { hashOfRange, placesOf, proofOf, type TileReader } from "../../log/Tree.ts"
import * as Download from "../verify/Download.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as LogMemory from "./Memory.ts"
import { broken, type Walk, walk, walkStart } from "./Walk.ts"

export interface LogCheck {
  /** Public URL of the altar, without trailing slashes. */
  readonly base: string
  /** The log's verifier key; when absent, the remembered one, or else the server's own. */
  readonly vkey: Option.Option<string>
  /** The policy whose cosignatures the newest checkpoint must have. */
  readonly policy: Option.Option<Policy>
  /** The file of the last trusted checkpoint. */
  readonly seen: Option.Option<string>
}

const Status = Schema.Struct({ vkey: Schema.String })

const open = (note: string, trust: Trust) =>
  Effect.flatMap(
    Effect.promise(() => openCheckpoint(note, trust)),
    (opened) => (opened.ok ? Effect.succeed(opened) : broken(opened.reason)),
  )

/** Compares two trees by the served tiles. Missing or wrong tiles prove nothing. */
const wayBetween = Effect.fnUntraced(
  function* (base: string, older: Checkpoint, newer: Checkpoint) {
    const sameAs = (root: Uint8Array) => (equal(root, older.root) ? "continues" : "differs")
    if (older.size === 0) return "continues"
    if (older.size === newer.size) return sameAs(newer.root)
    const [first, ranges] = [{ from: 0, to: older.size }, consistencyRanges(older.size, newer.size)]
    const tiles = yield* Effect.forEach(placesOf([first, ...ranges]), (place) => {
      const tile = { ...place, width: widthAt(newer.size, place) }
      return Effect.map(Download.bytes(`${base}/log/${tilePath(tile)}`), (bytes) => ({ place, bytes }))
    })
    const read: TileReader = ({ index, level }) =>
      tiles.find(({ place }) => place.level === level && place.index === index)?.bytes
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
const contradicted = (...of: Parameters<typeof keepBoth>) => Effect.flatMap(keepBoth(...of), broken)

/** Two notes without the way between them prove neither a fork nor that all is well. */
const incomparable = (...of: Parameters<typeof keepBoth>) =>
  Effect.flatMap(keepBoth(...of), (message) => new CommandFailure({ message: plain(`NOT COMPARABLE: ${message}`) }))

const noWay = "The altar does not show that one continues the other, so nothing is proved either way."

const sameKey = ({ file }: Memory, before: LogMemory.SeenCheckpoint, vkey: string) =>
  before.vkey === vkey
    ? Effect.void
    : broken(
        `the key is ${vkey}, and the one of the last check was ${before.vkey}. If its operator has announced a new log with a new key, name another file with --seen, or remove ${file}; else keep that file.`,
      )

/** Opens the newest checkpoint: correctly signed, and no smaller than that of the last check. */
export const openLog = Effect.fn("openLog")(function* ({ base, policy, seen, vkey: named }: LogCheck) {
  const memory = yield* LogMemory.make(base, seen)
  const before = yield* memory.seen
  const known = Option.orElse(named, () => Option.map(before, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : (yield* Download.json(`${base}/api/witness/log`, Status)).vkey
  if (Option.isSome(before)) yield* sameKey(memory, before.value, vkey)
  const note = yield* Download.text(`${base}/log/checkpoint`)
  const trust = { vkey, ...provided({ witnesses: policy }) }
  const { checkpoint, cosignatures } = yield* open(note, trust)
  const old = Option.isNone(before)
    ? Option.none<Checkpoint>()
    : Option.some((yield* open(before.value.checkpoint, { vkey })).checkpoint)
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    const what = `it had ${old.value.size} stones at the last check and has ${checkpoint.size} now.`
    const way = yield* wayBetween(base, checkpoint, old.value)
    if (way === "unknown") return yield* incomparable(memory, note, checkpoint, `${what} ${noWay}`)
    return yield* way === "continues"
      ? broken(`${what} If a cache on the way is old, check again later; a log never shrinks.`)
      : contradicted(memory, note, checkpoint, `${what} They do not begin with the same stones.`)
  }
  const isNamed = Option.isSome(named) || Option.exists(policy, ({ logs }) => logs.includes(vkey))
  return { base, memory, before, vkey, isNamed, note, checkpoint, cosignatures, old }
})

export type OpenedLog = Effect.Success<ReturnType<typeof openLog>>

/** The result of walking the chain after the log was opened. */
export interface WalkedChain {
  readonly stones: number
  /** The hash of the last stone that the log's checkpoint covers. */
  readonly markedHash: string
}

/** A concurrent check may have ended first: the larger checkpoint is remembered, if it continues the smaller. */
const remember = Effect.fnUntraced(function* ({ base, before, checkpoint, isNamed, memory, note, vkey }: OpenedLog) {
  const now = yield* memory.seen
  const isItsOwnWord = !isNamed && Option.getOrElse(now, () => ({ isItsOwnWord: true })).isItsOwnWord !== false
  const mine = { vkey, checkpoint: note, isItsOwnWord }
  const other = Option.filter(now, (one) => !Option.exists(before, (was) => was.checkpoint === one.checkpoint))
  if (Option.isNone(other)) return yield* Effect.as(memory.remember(mine), isItsOwnWord)
  yield* sameKey(memory, other.value, vkey)
  const theirs = (yield* open(other.value.checkpoint, { vkey })).checkpoint
  const [older, newer] = theirs.size > checkpoint.size ? [checkpoint, theirs] : [theirs, checkpoint]
  const way = yield* wayBetween(base, older, newer)
  const what = `another check has seen a checkpoint of ${theirs.size} stones, and this one has ${checkpoint.size}.`
  if (way === "unknown") return yield* incomparable(memory, note, checkpoint, `${what} ${noWay}`)
  if (way === "differs") return yield* contradicted(memory, note, checkpoint, `${what} Neither continues the other.`)
  yield* memory.remember(newer === theirs ? { ...mine, checkpoint: other.value.checkpoint } : mine)
  return isItsOwnWord
})

/** Checks the whole opened log against the chain; returns the findings for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* (opened: OpenedLog, chain: WalkedChain) {
  const { base, before, checkpoint, cosignatures, memory, note, old, vkey } = opened
  const oldNote = Option.getOrNull(Option.map(before, (one) => one.checkpoint))
  const left = Option.filter(yield* memory.left(vkey, oldNote), ({ size }) => size <= checkpoint.size)
  const config = { base, checkpoint, old, save: memory.save(vkey, oldNote) }
  const whole = Effect.map(walk({ ...config, from: walkStart }), (end) => ({ ...end, from: 1 }))
  const goingOn = Effect.fnUntraced(function* (from: Walk) {
    yield* Console.error(`  going on behind entry ${from.size}, where the last check was stopped`)
    return { ...(yield* walk({ ...config, from })), from: from.size + 1 }
  })
  const walked = Option.match(left, {
    onNone: () => whole,
    // The fault may be in the remembered place rather than in the log.
    onSome: (place) =>
      Effect.catchTag(goingOn(place), ["CheckFailed", "Rewritten"], ({ message }) =>
        Effect.andThen(
          Effect.andThen(
            memory.forgetPlace,
            Console.error(`  ${message}\n  That place is forgotten: once more from 1`),
          ),
          whole,
        ),
      ),
  })
  const { chainHash, from, size } = yield* Effect.catchTag(walked, "Rewritten", ({ message }) =>
    contradicted(memory, note, checkpoint, message),
  )
  if (chain.markedHash !== chainHash) return yield* broken(`stone ${size} of the chain is not the one of the log.`)
  const keyIsItsOwnWord = yield* remember(opened)
  return {
    origin: checkpoint.origin,
    vkey,
    /** Only the server has named the key, now and in earlier checks. */
    keyIsItsOwnWord,
    /** The first entry of this walk; an interrupted check walked those before it. */
    from,
    size,
    /** Stones of the chain that are newer than the checkpoint and not covered by the log. */
    uncovered: chain.stones - size,
    root: base64(checkpoint.root),
    cosignatures,
    /** Size at the last check, which this log continues. */
    continues: Option.getOrNull(Option.map(old, (one) => one.size)),
    seen: memory.file,
  }
})

export type LogVerdict = Effect.Success<ReturnType<typeof verifyLog>>

export const sentencesOf = (log: LogVerdict): ReadonlyArray<string> => [
  `${log.size} entries of ${log.origin}${log.from > 1 ? `, from entry ${log.from} where an earlier check was stopped` : ""}: every tile and the signed root derive from them, and the first ${log.size} stones of the chain are the same.`,
  ...(log.uncovered === 0
    ? []
    : [
        `The log does not cover the last ${log.uncovered} stones of the chain: its checkpoint is older, or it is behind.`,
      ]),
  ...(log.cosignatures.length === 0
    ? []
    : [`Cosigned by ${log.cosignatures.map(({ name }) => name).join(", ")}: the quorum of the policy.`]),
  log.continues === null
    ? `This is the first checkpoint seen here; ${log.seen} remembers it for the next check.`
    : `It continues the ${log.continues} stones of the last check (${log.seen}).`,
  ...(log.keyIsItsOwnWord
    ? [`The key was the server's own word: ${log.vkey}. Compare it, or name it with --vkey.`]
    : []),
]
