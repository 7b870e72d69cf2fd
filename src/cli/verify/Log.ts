/** Checks the log over the chain: its root is that of the chain's links, and it continues the log of the last check. */
import { dirname, join } from "node:path"
import { Effect, FileSystem, Option, Schema } from "effect"
import { base64, equal, hex } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../../buyer/log/SignedCheckpoint.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { folderOf } from "../buyer/Session.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { plain } from "../Output.ts"
import type { WalkedChain } from "./Chain.ts"
import * as Download from "./Download.ts"

export interface LogCheck {
  /** The altar's URL, without a trailing slash. */
  readonly altar: string
  /** The log's verifier key; when absent, the remembered one, or else the one that the server names. */
  readonly vkey: Option.Option<string>
  /** The policy whose cosignatures the newest checkpoint must have. */
  readonly policy: Option.Option<Policy>
  /** The file of the last verified checkpoint; else one for each altar beside the journal. */
  readonly seen: Option.Option<string>
}

const Status = Schema.Struct({ vkey: Schema.String })

/** The memory of a check for the next one. */
const Seen = Schema.fromJsonString(
  Schema.Struct({
    vkey: Schema.String,
    /** The verified note. */
    checkpoint: Schema.String,
    /** Whether the reader named the key in this or an earlier check. */
    isNamed: Schema.Boolean,
  }),
)

const broken = (what: string) => new CheckFailed({ message: plain(`THE LOG IS BROKEN: ${what}`) })

const open = Effect.fnUntraced(function* (note: string, trust: Trust) {
  const opened = yield* Effect.promise(() => openCheckpoint(note, trust))
  if (opened.ok) return opened
  // The reader's own keys may be at fault, and not the log.
  return yield* opened.fault === "key" ? new CommandFailure({ message: plain(opened.reason) }) : broken(opened.reason)
})

const fileOf = (altar: string) =>
  Effect.map(folderOf(Option.none()), (folder) =>
    join(folder, "checkpoints", `${altar.replace(/^https?:\/\//u, "").replaceAll(/[^\w.-]/gu, "_")}.json`),
  )

const lastIn = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* fs.exists(file))) return Option.none()
    return Option.some(yield* Effect.flatMap(fs.readFileString(file), Schema.decodeEffect(Seen)))
  }).pipe(Effect.mapError(() => new CommandFailure({ message: `${file} cannot be read, or no check has written it.` })))

const write = (file: string, text: string) =>
  Effect.gen(function* () {
    yield* (yield* FileSystem.FileSystem).makeDirectory(dirname(file), { recursive: true })
    yield* DurableFile.write(file, text)
  }).pipe(
    Effect.mapError(() => new CommandFailure({ message: `${file} cannot be written. Name another with --seen.` })),
  )

/** Two signed notes that contradict each other prove it to anyone, so both stay on this machine. */
const contradicted = Effect.fnUntraced(function* (
  file: string,
  { root, size }: Checkpoint,
  note: string,
  what: string,
) {
  const second = `${file}.${size}-${hex(root).slice(0, 8)}.checkpoint`
  yield* write(second, note)
  return yield* broken(`${what} Keep both signed checkpoints: ${file} and ${second}.`)
})

/** Opens the newest checkpoint: correctly signed, and no smaller than that of the last check. */
export const openLog = Effect.fn("openLog")(function* (check: LogCheck) {
  const { altar, policy, seen, vkey: named } = check
  const file = Option.isSome(seen) ? seen.value : yield* fileOf(altar)
  const last = yield* lastIn(file)
  const key = Option.orElse(named, () => Option.map(last, ({ vkey }) => vkey))
  const vkey = Option.isSome(key) ? key.value : (yield* Download.json(`${altar}/api/witness/log`, Status)).vkey
  if (Option.isSome(last) && last.value.vkey !== vkey)
    return yield* broken(
      `the key is ${vkey}, and the one of the last check was ${last.value.vkey}. If its operator has announced a new log with a new key, name another file with --seen, or remove ${file}; else keep that file.`,
    )
  const note = yield* Download.text(`${altar}/log/checkpoint`)
  const { checkpoint, cosignatures } = yield* open(note, { vkey, ...provided({ cosigners: policy }) })
  const old = Option.isNone(last) ? undefined : (yield* open(last.value.checkpoint, { vkey })).checkpoint
  if (old !== undefined && old.size > checkpoint.size)
    return yield* contradicted(
      file,
      checkpoint,
      note,
      `it had ${old.size} entries at the last check and has ${checkpoint.size} now. A log never shrinks; if a cache on the way is old, check again later.`,
    )
  const isNamed =
    Option.isSome(named) ||
    Option.exists(policy, ({ logs }) => logs.includes(vkey)) ||
    Option.exists(last, (record) => record.isNamed)
  /** The sizes at which the walk of the chain must find the roots. */
  const sizes = [...(old === undefined ? [] : [old.size]), checkpoint.size]
  return { file, vkey, isNamed, note, checkpoint, cosignatures, old, sizes }
})

export type OpenedLog = Effect.Success<ReturnType<typeof openLog>>

/** Compares the opened log with the chain that was walked after it, and returns the findings for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* (opened: OpenedLog, { roots, stones }: WalkedChain) {
  const { checkpoint, cosignatures, file, isNamed, note, old, vkey } = opened
  const { origin, root, size } = checkpoint
  const isOf = (head: Checkpoint) => equal(roots.get(head.size) ?? new Uint8Array(), head.root)
  if (old !== undefined && !isOf(old))
    return yield* contradicted(
      file,
      checkpoint,
      note,
      `its first ${old.size} entries are not those of the last check (root ${base64(old.root)}): the history was rewritten.`,
    )
  if (!isOf(checkpoint)) return yield* broken(`its root is not that of the first ${size} stones of the chain.`)
  yield* write(file, JSON.stringify({ vkey, checkpoint: note, isNamed }))
  return {
    origin,
    vkey,
    /** Only the server has named the key, now and in earlier checks. */
    keyIsItsOwnWord: !isNamed,
    size,
    /** Stones of the chain that are newer than the checkpoint and not covered by the log. */
    uncovered: stones - size,
    root: base64(root),
    cosignatures,
    /** Size at the last check, which this log continues. */
    continues: old?.size ?? null,
    seen: file,
  }
})

export type LogVerdict = Effect.Success<ReturnType<typeof verifyLog>>

export const sentencesOf = (log: LogVerdict): ReadonlyArray<string> => [
  `${log.size} entries of ${log.origin}: its signed root is that of the first ${log.size} stones of the chain.`,
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
    : `It continues the ${log.continues} entries of the last check (${log.seen}).`,
  ...(log.keyIsItsOwnWord ? [`The server itself named the key: ${log.vkey}. Compare it, or name it with --vkey.`] : []),
]
