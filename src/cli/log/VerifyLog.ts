/** Checks the log over the chain: its root is that of the chain's links, and it continues the log of the last check. */
import { Effect, Option, Schema } from "effect"
import { base64, equal } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { plain } from "../Output.ts"
import type { WalkedChain } from "../verify/Chain.ts"
import * as Download from "../verify/Download.ts"
import * as Seen from "./Seen.ts"

export interface LogCheck {
  /** The altar's URL, without a trailing slash. */
  readonly altar: string
  /** The log's verifier key; when absent, the remembered one, or else the one that the server names. */
  readonly vkey: Option.Option<string>
  /** The first line of its checkpoints, when that is not the name of the key. */
  readonly origin?: Option.Option<string>
  /** The policy whose cosignatures the newest checkpoint must have. */
  readonly policy: Option.Option<Policy>
  /** The file of the last verified checkpoint. */
  readonly seen: Option.Option<string>
}

const Status = Schema.Struct({ vkey: Schema.String })

const broken = (what: string) => new CheckFailed({ message: plain(`THE LOG IS BROKEN: ${what}`) })

const open = (note: string, trust: Trust) =>
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

/** Two signed notes that contradict each other prove it to anyone, so both stay on this machine. */
const contradicted = Effect.fnUntraced(function* (
  {
    checkpoint,
    memory,
    note,
  }: {
    readonly checkpoint: Checkpoint
    readonly memory: Effect.Success<ReturnType<typeof Seen.make>>
    readonly note: string
  },
  what: string,
) {
  const file = yield* memory.keep(note, checkpoint)
  return yield* broken(`${what} Keep both signed checkpoints: ${memory.file} and ${file}.`)
})

/** Opens the newest checkpoint: correctly signed, and no smaller than that of the last check. */
export const openLog = Effect.fn("openLog")(function* (check: LogCheck) {
  const { altar, origin = Option.none(), policy, seen, vkey: named } = check
  const memory = yield* Seen.make(altar, seen)
  const last = yield* memory.last
  const known = Option.orElse(named, () => Option.map(last, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : (yield* Download.json(`${altar}/api/witness/log`, Status)).vkey
  if (Option.isSome(last) && last.value.vkey !== vkey) {
    return yield* broken(
      `the key is ${vkey}, and the one of the last check was ${last.value.vkey}. If its operator has announced a new log with a new key, name another file with --seen, or remove ${memory.file}; else keep that file.`,
    )
  }
  const note = yield* Download.text(`${altar}/log/checkpoint`)
  const trust = { vkey, ...provided({ origin }) }
  const { checkpoint, cosignatures } = yield* open(note, { ...trust, ...provided({ witnesses: policy }) })
  const old = Option.isNone(last)
    ? Option.none<Checkpoint>()
    : Option.some((yield* open(last.value.checkpoint, trust)).checkpoint)
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    return yield* contradicted(
      { memory, note, checkpoint },
      `it had ${old.value.size} entries at the last check and has ${checkpoint.size} now. A log never shrinks; if a cache on the way is old, check again later.`,
    )
  }
  const isNamed =
    Option.isSome(named) ||
    Option.exists(policy, ({ logs }) => logs.includes(vkey)) ||
    Option.exists(last, (one) => one.isNamed)
  return { memory, vkey, isNamed, note, checkpoint, cosignatures, old }
})

export type OpenedLog = Effect.Success<ReturnType<typeof openLog>>

/** The sizes at which the walk of the chain must find the roots of an opened log. */
export const sizesOf = ({ checkpoint, old }: OpenedLog) => [
  ...Option.toArray(Option.map(old, ({ size }) => size)),
  checkpoint.size,
]

/** Compares the opened log with the chain that was walked after it, and returns the findings for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* (opened: OpenedLog, { roots, stones }: WalkedChain) {
  const { checkpoint, cosignatures, isNamed, memory, note, old, vkey } = opened
  const { origin, root, size } = checkpoint
  const isOf = (one: Checkpoint) => equal(roots.get(one.size) ?? new Uint8Array(), one.root)
  if (Option.isSome(old) && !isOf(old.value))
    return yield* contradicted(
      opened,
      `its first ${old.value.size} entries are not those of the last check (root ${base64(old.value.root)}): the history was rewritten.`,
    )
  if (!isOf(checkpoint)) return yield* broken(`its root is not that of the first ${size} stones of the chain.`)
  yield* memory.remember({ vkey, checkpoint: note, isNamed })
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
    continues: Option.getOrNull(Option.map(old, (one) => one.size)),
    seen: memory.file,
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
