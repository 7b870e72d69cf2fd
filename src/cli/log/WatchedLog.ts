/** The state of one watched log in a file, which is all that a restart needs, and the change that a look at the log makes. */
import { Clock, Effect, FileSystem, Option, Path, Result, Schema } from "effect"
import { hex } from "../../../schema/log/Bytes.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint } from "../../buyer/log/SignedCheckpoint.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { at, locate, type LogSource, textOf } from "./LogSource.ts"
import { open, ownWord, wayBetween } from "./OpenedLog.ts"

export const causes = ["fork", "shrink", "stale", "cosignatures"] as const
export type Cause = (typeof causes)[number]

const Raised = Schema.Struct({ cause: Schema.Literals(causes), since: Schema.Finite, message: Schema.String })
export type Raised = typeof Raised.Type

const Notice = Schema.Struct({ ...Raised.fields, state: Schema.Literals(["raised", "over"]) })
export type Notice = typeof Notice.Type

const State = Schema.Struct({
  vkey: Schema.String,
  /** The newest note that continued all before it. */
  checkpoint: Schema.String,
  /** When it last grew here or was cosigned, in ms since 1970. */
  freshAt: Schema.Finite,
  /** Looks in a row that showed less, or too few cosignatures. */
  shrunk: Schema.Int,
  unsigned: Schema.Int,
  alarms: Schema.Array(Raised),
  /** Changes that are still to be told. */
  notices: Schema.Array(Notice),
})
export type State = typeof State.Type

const StateText = Schema.fromJsonString(State)

export interface Watched {
  /** The URL of the log or of its altar. */
  readonly url: string
  /** Its state, in a file of its own. */
  readonly file: string
  readonly vkey: Option.Option<string>
  readonly origin: Option.Option<string>
  readonly policy: Option.Option<Policy>
  /** Milliseconds without growth or cosignature that are too many. */
  readonly staleAfter: number
  /** Looks in a row before a shrink or a missing cosignature counts: a cache or a slow witness may cause one. */
  readonly patience: number
}

export const recall = Effect.fn("WatchedLog.recall")(function* ({ file }: Watched) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(files.exists(file), () => false))) return Option.none<State>()
  return yield* Effect.mapError(
    Effect.asSome(Effect.flatMap(files.readFileString(file), Schema.decodeEffect(StateText))),
    () => new CommandFailure({ message: `${file} has an unknown format: an earlier watch did not write it.` }),
  )
})

const write = Effect.fnUntraced(function* (file: string, text: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.mapError(
    Effect.andThen(files.makeDirectory(path.dirname(file), { recursive: true }), DurableFile.write(file, text)),
    () => new CommandFailure({ message: `${file} cannot be written. Name another folder with --data.` }),
  )
})

export const remember = ({ file }: Watched, state: State) => write(file, JSON.stringify(state))

/** How the newest checkpoint relates to the remembered one; fails where the log's files do not tell. */
const seenNow = Effect.fnUntraced(function* (watched: Watched, before: Option.Option<State>) {
  const source: LogSource = at(yield* locate(watched.url))
  const known = Option.orElse(
    Option.map(before, ({ vkey }) => vkey),
    () => watched.vkey,
  )
  const vkey = Option.isSome(known) ? known.value : yield* ownWord(source)
  const trust = { vkey, ...(Option.isSome(watched.origin) ? { origin: watched.origin.value } : {}) }
  const note = yield* textOf(source, "checkpoint")
  const { checkpoint } = yield* open(note, trust)
  const cosigned = yield* Effect.promise(() =>
    openCheckpoint(note, { ...trust, ...(Option.isSome(watched.policy) ? { witnesses: watched.policy.value } : {}) }),
  )
  const seen = { vkey, note, checkpoint, cosigned }
  if (Option.isNone(before)) return { ...seen, relation: "grown" as const, old: 0 }
  const old = (yield* open(before.value.checkpoint, trust)).checkpoint
  const isSmaller = old.size > checkpoint.size
  const way = yield* isSmaller ? wayBetween(source, checkpoint, old) : wayBetween(source, old, checkpoint)
  if (way === "differs") return { ...seen, relation: "fork" as const, old: old.size }
  // A log that lost its end cannot show the tiles that would tell a rollback from an old copy.
  if (isSmaller) return { ...seen, relation: "shrunk" as const, old: old.size }
  if (way === "unknown") {
    const message = `its tiles do not show that its checkpoint of ${checkpoint.size} entries continues the one of ${old.size}.`
    return yield* new CommandFailure({ message })
  }
  return { ...seen, relation: checkpoint.size > old.size ? ("grown" as const) : ("same" as const), old: old.size }
})

type Seen = Effect.Success<ReturnType<typeof seenNow>>

/** Both notes of a fork are signed with one key, and stay on this machine. */
const keepFork = Effect.fnUntraced(function* ({ file }: Watched, { checkpoint: { root, size }, note, old }: Seen) {
  const kept = `${file}.${size}-${hex(root).slice(0, 8)}.checkpoint`
  yield* write(kept, note)
  return `its checkpoint of ${size} entries does not continue the one of ${old}. Keep both: ${file} and ${kept}. Remove the first to begin anew.`
})

const newestSignature = ({ cosigned }: Seen) =>
  cosigned.ok ? Math.max(0, ...cosigned.cosignatures.map(({ seconds }) => seconds * 1000)) : 0

/** The alarms after a look. A fork stays for good; a look that told nothing ends none. */
const settle = (
  before: ReadonlyArray<Raised>,
  found: ReadonlyMap<Cause, string>,
  isTold: boolean,
  now: number,
): Pick<State, "alarms" | "notices"> => {
  const stays = ({ cause }: Raised) => cause === "fork" || found.has(cause) || !isTold
  const raised = [...found].flatMap(([cause, message]) =>
    before.some((one) => one.cause === cause) ? [] : [{ cause, since: now, message }],
  )
  return {
    alarms: [...before.filter(stays), ...raised],
    notices: [
      ...before.filter((one) => !stays(one)).map((one) => ({ ...one, state: "over" as const })),
      ...raised.map((one) => ({ ...one, state: "raised" as const })),
    ],
  }
}

const iso = (at: number) => new Date(at).toISOString()

/** Looks once. Returns the next state, not yet remembered, and why nothing was seen if nothing was. */
export const look = Effect.fn("WatchedLog.look")(function* (
  watched: Watched,
  before: Option.Option<State>,
  startedAt: number,
) {
  const { patience, staleAfter } = watched
  const result = yield* Effect.result(seenNow(watched, before))
  const now = yield* Clock.currentTimeMillis
  if (Result.isFailure(result)) {
    const why = result.failure.message
    if (Option.isNone(before)) return { state: before, why: Option.some(why) }
    // No look happened before this process began.
    const since = Math.max(before.value.freshAt, startedAt)
    const found = new Map<Cause, string>()
    if (now - since > staleAfter) found.set("stale", `nothing was read of it since ${iso(since)}: ${why}`)
    const { alarms, notices } = settle(before.value.alarms, found, false, now)
    const state = { ...before.value, alarms, notices: [...before.value.notices, ...notices] }
    return { state: Option.some(state), why: Option.some(why) }
  }
  const seen = result.success
  const last = Option.getOrElse(before, (): State => ({
    vkey: seen.vkey,
    checkpoint: seen.note,
    freshAt: now,
    shrunk: 0,
    unsigned: 0,
    alarms: [],
    notices: [],
  }))
  const found = new Map<Cause, string>()
  const isContinued = seen.relation === "grown" || seen.relation === "same"
  const shrunk = seen.relation === "shrunk" ? last.shrunk + 1 : 0
  const unsigned = seen.cosigned.ok ? 0 : last.unsigned + 1
  const grewAt = seen.relation === "grown" ? now : last.freshAt
  const freshAt = isContinued ? Math.max(grewAt, Math.min(now, newestSignature(seen))) : last.freshAt
  if (seen.relation === "fork") found.set("fork", yield* keepFork(watched, seen))
  if (shrunk >= patience)
    found.set("shrink", `it had ${seen.old} entries and shows ${seen.checkpoint.size}; a log never shrinks.`)
  if (!seen.cosigned.ok && unsigned >= patience) found.set("cosignatures", seen.cosigned.reason)
  if (now - freshAt > staleAfter) found.set("stale", `it has neither grown nor been cosigned since ${iso(freshAt)}.`)
  const { alarms, notices } = settle(last.alarms, found, true, now)
  const state: State = {
    vkey: last.vkey,
    checkpoint: isContinued ? seen.note : last.checkpoint,
    freshAt,
    shrunk,
    unsigned,
    alarms,
    notices: [...last.notices, ...notices],
  }
  return { state: Option.some(state), why: Option.none<string>() }
})
