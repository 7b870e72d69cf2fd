/** An independent check of a whole log: that it matches the chain, and continues the log of the last check. */
import { Console, Effect, Option } from "effect"
import { base64 } from "../../../schema/log/Bytes.ts"
import { contradicted, type OpenedLog, remember } from "./OpenedLog.ts"
import { broken } from "./LogSource.ts"
import { cosignedBy } from "./Policy.ts"
import { noCopy, type Walk, walk, walkStart } from "./Walk.ts"

/** The result of walking the chain after the log was opened. */
export interface WalkedChain {
  readonly stones: number
  /** The hash of the last stone that the log's checkpoint covers. */
  readonly markedHash: string
}

/** Checks the whole opened log, against the chain where there is one; returns the findings for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* (opened: OpenedLog, chain?: WalkedChain) {
  const { before, checkpoint, cosignatures, memory, note, old, source, unchecked, vkey } = opened
  const oldNote = Option.getOrNull(Option.map(before, (one) => one.checkpoint))
  const left = Option.filter(yield* memory.left(vkey, oldNote), ({ size }) => size <= checkpoint.size)
  const isOurs = chain !== undefined
  const config = { source, copy: noCopy, isOurs, checkpoint, old, save: memory.save(vkey, oldNote) }
  const whole = Effect.map(walk({ ...config, from: walkStart }), (end) => ({ ...end, from: 1 }))
  const goingOn = Effect.fnUntraced(function* (from: Walk) {
    yield* Console.error(`  continuing after entry ${from.size}, where the last check stopped`)
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
            Console.error(`  ${message}\n  That position is invalid: starting again from 1`),
          ),
          whole,
        ),
      ),
  })
  const { chainHash, from, size } = yield* Effect.catchTag(walked, "Rewritten", ({ message }) =>
    contradicted(memory, note, checkpoint, message),
  )
  if (chain !== undefined && chain.markedHash !== chainHash)
    return yield* broken(`stone ${size} of the chain is not the one of the log.`)
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
    uncovered: chain === undefined ? 0 : chain.stones - size,
    /** Whether entries are stones of one chain, or bytes of which nothing else is known. */
    entries: chainHash === null ? "opaque" : "stones",
    /** Whether the altar's own chain was compared. */
    isCompared: isOurs,
    root: base64(checkpoint.root),
    cosignatures,
    unchecked,
    /** Size at the last check, which this log continues. */
    continues: Option.getOrNull(Option.map(old, (one) => one.size)),
    seen: memory.file,
  }
})

export type LogVerdict = Effect.Success<ReturnType<typeof verifyLog>>

export const sentencesOf = (log: LogVerdict): ReadonlyArray<string> => [
  `${log.size} entries of ${log.origin}${log.from > 1 ? `, from entry ${log.from} where an earlier check was stopped` : ""}: every tile and the signed root derive from them${log.isCompared ? `, and the first ${log.size} stones of the chain are the same` : ""}.`,
  ...(log.isCompared
    ? []
    : [
        log.entries === "stones"
          ? "The entries are stones that follow each other. NOT shown: that an altar sells and shows them."
          : "NOT shown: the meaning of the entries. Only their hashes were compared.",
      ]),
  ...(log.uncovered === 0
    ? []
    : [
        `The log does not cover the last ${log.uncovered} stones of the chain: its checkpoint is older, or it is behind.`,
      ]),
  ...cosignedBy(log),
  log.continues === null
    ? `This is the first checkpoint seen here; ${log.seen} remembers it for the next check.`
    : `It continues the ${log.continues} entries of the last check (${log.seen}).`,
  ...(log.keyIsItsOwnWord ? [`The server itself named the key: ${log.vkey}. Compare it, or name it with --vkey.`] : []),
]
