/** An independent check of a whole log, and that it continues the one of the last check. */
import { Console, Effect, Option, Schema } from "effect"
import { base64 } from "../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../schema/log/Checkpoint.ts"
import type { Policy } from "../../schema/log/Policy.ts"
import { openCheckpoint, type Trust } from "../buyer/log/SignedCheckpoint.ts"
import * as Download from "./Download.ts"
import * as LogMemory from "./LogMemory.ts"
import { broken, type Walk, walk, walkStart } from "./LogWalk.ts"

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
  const left = Option.filter(yield* memory.left(vkey, oldNote), ({ size }) => size <= checkpoint.size)
  const config = { base, checkpoint, old, save: memory.save(vkey, oldNote) }
  const whole = Effect.map(walk({ ...config, from: walkStart }), (end) => ({ ...end, from: 1 }))
  const goingOn = Effect.fnUntraced(function* (from: Walk) {
    yield* Console.error(`  going on behind entry ${from.size}, where the last check was stopped`)
    return { ...(yield* walk({ ...config, from })), from: from.size + 1 }
  })
  const { chainHash, from, size } = yield* Option.match(left, {
    onNone: () => whole,
    // The place may be what does not fit, and not the log.
    onSome: (place) =>
      Effect.catchTag(goingOn(place), "Broken", ({ message }) =>
        Effect.andThen(
          Effect.andThen(
            memory.forgetPlace,
            Console.error(`  ${message}\n  That place is forgotten: once more from 1`),
          ),
          whole,
        ),
      ),
  })
  if (size > 0) {
    const { entries } = yield* Download.json(`${base}/api/witness/chain?from=${size}&limit=1`, Segment)
    if (entries[0]?.chainHash !== chainHash) {
      return yield* broken(`stone ${size} of the chain is not the one of the log.`)
    }
  }
  const isNamed = Option.isSome(named) || Option.exists(policy, ({ logs }) => logs.includes(vkey))
  const isItsOwnWord = !isNamed && Option.getOrElse(before, () => ({ isItsOwnWord: true })).isItsOwnWord !== false
  yield* memory.remember({ vkey, checkpoint: note, isItsOwnWord })
  return {
    origin: checkpoint.origin,
    vkey,
    /** Nobody but the server has named the key, now or in an earlier check. */
    keyIsItsOwnWord: isItsOwnWord,
    /** The first entry of this walk: those before it were walked by a check that was stopped. */
    from,
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
  `${log.size} entries of ${log.origin}${log.from > 1 ? `, from entry ${log.from} where an earlier check was stopped` : ""}: every tile and the signed root derive from them, and the chain is the same.`,
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
