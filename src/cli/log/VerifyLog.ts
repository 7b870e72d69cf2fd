/** Checks a whole log: it matches the chain, and continues the log of the last check. */
import { Effect, Option } from "effect"
import { base64 } from "../../../schema/log/Bytes.ts"
import { broken } from "./LogSource.ts"
import { contradicted, type OpenedLog } from "./OpenedLog.ts"
import { cosignedBy } from "./Policy.ts"
import { walk } from "./Walk.ts"

/** The result of walking the chain after the log was opened. */
export interface WalkedChain {
  readonly stones: number
  /** The hash of the last stone that the log's checkpoint covers. */
  readonly markedHash: string
}

/** Checks the whole opened log against the chain, and returns the findings for a program. */
export const verifyLog = Effect.fn("verifyLog")(function* (opened: OpenedLog, chain: WalkedChain) {
  const { checkpoint, cosignatures, isNamed, memory, note, old, source, vkey } = opened
  const { origin, root, size } = checkpoint
  const chainHash = yield* Effect.catchTag(walk(source, checkpoint, old), "Rewritten", ({ message }) =>
    contradicted(memory, note, checkpoint, message),
  )
  if (chain.markedHash !== chainHash) return yield* broken(`stone ${size} of the chain is not the one of the log.`)
  yield* memory.remember({ vkey, checkpoint: note, isNamed })
  return {
    origin,
    vkey,
    /** Only the server has named the key, now and in earlier checks. */
    keyIsItsOwnWord: !isNamed,
    size,
    /** Stones of the chain that are newer than the checkpoint and not covered by the log. */
    uncovered: chain.stones - size,
    root: base64(root),
    cosignatures,
    /** Size at the last check, which this log continues. */
    continues: Option.getOrNull(Option.map(old, (one) => one.size)),
    seen: memory.file,
  }
})

export type LogVerdict = Effect.Success<ReturnType<typeof verifyLog>>

export const sentencesOf = (log: LogVerdict): ReadonlyArray<string> => [
  `${log.size} entries of ${log.origin}: every tile and the signed root derive from them, and the first ${log.size} stones of the chain are the same.`,
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
