/** A log's newest checkpoint beside the one that this machine verified last. */
import { Effect, Option, Schema } from "effect"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { plain } from "../Output.ts"
import * as Download from "../verify/Download.ts"
import { at, broken } from "./LogSource.ts"
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

type Memory = Effect.Success<ReturnType<typeof Seen.make>>

/** Two signed notes that contradict each other prove it to anyone, so both stay on this machine. */
export const contradicted = Effect.fnUntraced(function* (
  memory: Memory,
  note: string,
  checkpoint: Checkpoint,
  what: string,
) {
  const file = yield* memory.keep(note, checkpoint)
  return yield* broken(`${what} Keep both signed checkpoints: ${memory.file} and ${file}.`)
})

/** Opens the newest checkpoint: correctly signed, and no smaller than that of the last check. */
export const openLog = Effect.fn("openLog")(function* ({
  altar,
  origin = Option.none(),
  policy,
  seen,
  vkey: named,
}: LogCheck) {
  const source = at(`${altar}/log`)
  const memory = yield* Seen.make(altar, seen)
  const last = yield* memory.last
  const known = Option.orElse(named, () => Option.map(last, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : (yield* Download.json(`${altar}/api/witness/log`, Status)).vkey
  if (Option.isSome(last) && last.value.vkey !== vkey) {
    return yield* broken(
      `the key is ${vkey}, and the one of the last check was ${last.value.vkey}. If its operator has announced a new log with a new key, name another file with --seen, or remove ${memory.file}; else keep that file.`,
    )
  }
  const note = new TextDecoder().decode(yield* source.file("checkpoint"))
  const trust = { vkey, ...provided({ origin }) }
  const { checkpoint, cosignatures } = yield* open(note, { ...trust, ...provided({ witnesses: policy }) })
  const old = Option.isNone(last)
    ? Option.none<Checkpoint>()
    : Option.some((yield* open(last.value.checkpoint, trust)).checkpoint)
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    const what = `it had ${old.value.size} entries at the last check and has ${checkpoint.size} now. A log never shrinks; if a cache on the way is old, check again later.`
    return yield* contradicted(memory, note, checkpoint, what)
  }
  const isNamed =
    Option.isSome(named) ||
    Option.exists(policy, ({ logs }) => logs.includes(vkey)) ||
    Option.exists(last, (one) => one.isNamed)
  return { source, memory, vkey, isNamed, note, checkpoint, cosignatures, old }
})

export type OpenedLog = Effect.Success<ReturnType<typeof openLog>>
