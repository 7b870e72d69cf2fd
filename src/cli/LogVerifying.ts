/** An independent check of a whole log, and that it continues the one of the last check. */
import { Console, Effect, Option, Schema } from "effect"
import { base64 } from "../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../schema/log/Checkpoint.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../buyer/log/SignedCheckpoint.ts"
import * as Download from "./Download.ts"
import * as LogMemory from "./LogMemory.ts"
import { broken, walk, walkStart } from "./LogWalk.ts"

export interface LogCheck {
  /** Public URL of the altar, without slashes at its end. */
  readonly base: string
  /** The log's verifier key; the one that is remembered, or else the server's own word, when absent. */
  readonly vkey: Option.Option<string>
  /** Whose cosignatures the newest checkpoint must have. */
  readonly policy: Option.Option<Policy>
  /** Where the last checkpoint that was believed is remembered. */
  readonly seen: Option.Option<string>
}

const Status = Schema.Struct({ vkey: Schema.String })

const Segment = Schema.Struct({ entries: Schema.Array(Schema.Struct({ chainHash: Schema.String })) })

const open = (note: string, trust: Trust) =>
  Effect.flatMap(
    Effect.promise(() => openCheckpoint(note, trust)),
    (opened) => (opened.ok ? Effect.succeed(opened) : broken(opened.reason)),
  )

/** Checks a whole log; what was found, for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* ({ base, policy, seen, vkey: named }: LogCheck) {
  const memory = yield* LogMemory.make(base, seen)
  const before = yield* memory.seen
  const known = Option.orElse(named, () => Option.map(before, ({ vkey }) => vkey))
  const vkey = Option.isSome(known) ? known.value : (yield* Download.json(`${base}/api/witness/log`, Status)).vkey
  if (Option.isSome(before) && before.value.vkey !== vkey) {
    return yield* broken(`the key is ${vkey}, and the one of the last check was ${before.value.vkey}.`)
  }
  const note = yield* Download.text(`${base}/log/checkpoint`)
  const trust = { vkey, ...Option.match(policy, { onNone: () => ({}), onSome: (witnesses) => ({ witnesses }) }) }
  const { checkpoint, cosignatures } = yield* open(note, trust)
  const old = Option.isNone(before)
    ? Option.none<Checkpoint>()
    : Option.some((yield* open(before.value.checkpoint, { vkey })).checkpoint)
  if (Option.isSome(old) && old.value.size > checkpoint.size) {
    return yield* broken(
      `it had ${old.value.size} stones at the last check and has ${checkpoint.size} now. If a cache on the way is old, check again later; a log never shrinks.`,
    )
  }
  const oldNote = Option.getOrNull(Option.map(before, (one) => one.checkpoint))
  const left = yield* memory.left(vkey, oldNote)
  const from = Option.getOrElse(
    Option.filter(left, ({ size }) => size <= checkpoint.size),
    () => walkStart,
  )
  if (from.size > 0) yield* Console.error(`  going on behind entry ${from.size}, where the last check was stopped`)
  const { chainHash, size } = yield* walk({ base, checkpoint, old, from, save: memory.save(vkey, oldNote) })
  if (size > 0) {
    const { entries } = yield* Download.json(`${base}/api/witness/chain?from=${size}&limit=1`, Segment)
    if (entries[0]?.chainHash !== chainHash) {
      return yield* broken(`stone ${size} of the chain is not the one of the log.`)
    }
  }
  yield* memory.remember(vkey, note)
  return {
    origin: checkpoint.origin,
    vkey,
    /** Nobody but the server has named the key. */
    keyIsItsOwnWord: Option.isNone(known),
    size,
    root: base64(checkpoint.root),
    cosignatures,
    /** Stones of the last check, which this log continues. */
    continues: Option.getOrNull(Option.map(old, (one) => one.size)),
    seen: memory.file,
  }
})

export type LogVerdict = Effect.Success<ReturnType<typeof verifyLog>>

/** The same, for a person. */
export const sentencesOf = (log: LogVerdict): ReadonlyArray<string> => [
  `${log.size} entries of ${log.origin}: every tile and the signed root derive from them, and the chain is the same.`,
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
