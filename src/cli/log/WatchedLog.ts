/** The state of one watched log in a file, which is all that a restart needs, and the change that a check of the log makes. */
import { Clock, Effect, FileSystem, Option, Path, Result, Schema } from "effect"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { openCheckpoint } from "../../buyer/log/SignedCheckpoint.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { at, locate, type LogSource, textOf } from "./LogSource.ts"
import { open, ownWord, wayBetween } from "./OpenedLog.ts"

export const causes = ["fork", "unproven", "shrink", "stale", "cosignatures"] as const
export type Cause = (typeof causes)[number]

const Raised = Schema.Struct({ cause: Schema.Literals(causes), since: Schema.Finite, message: Schema.String })
export type Raised = typeof Raised.Type

const Notice = Schema.Struct({ ...Raised.fields, state: Schema.Literals(["raised", "over"]) })
export type Notice = typeof Notice.Type

const State = Schema.Struct({
  vkey: Schema.String,
  /** The newest note that continued all before it. */
  checkpoint: Schema.String,
  /** A signed note that was not yet shown to continue the one above, or to be continued by it. */
  pending: Schema.NullOr(Schema.String),
  /** When it last grew here or was cosigned, in ms since 1970. */
  freshAt: Schema.Finite,
  /** Checks in a row that left the pending note unproven, showed less, or showed too few cosignatures. */
  unproven: Schema.Int,
  shrunk: Schema.Int,
  unsigned: Schema.Int,
  alarms: Schema.Array(Raised),
  /** The newest changes that are still to be told. */
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
  /** Checks in a row before a shrink or a missing cosignature counts: a cache or a slow witness may cause one. */
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

/** One checkpoint against another of the same key, in either order of their sizes. */
const relate = (source: LogSource, one: Checkpoint, other: Checkpoint) =>
  one.size > other.size ? wayBetween(source, other, one) : wayBetween(source, one, other)

const grown = (old: Checkpoint, checkpoint: Checkpoint) => (old.size < checkpoint.size ? "grown" : "same")

/** How the newest checkpoint relates to the remembered one, and to a pending one. */
const seenNow = Effect.fnUntraced(function* (watched: Watched, before: Option.Option<State>) {
  const source: LogSource = at(yield* locate(watched.url))
  const known = Option.map(before, ({ vkey }) => vkey)
  const named = Option.orElse(watched.vkey, () => known)
  const vkey = Option.isSome(named) ? named.value : yield* ownWord(source)
  if (Option.isSome(known) && known.value !== vkey) {
    const message = `its key is ${vkey}, and it was watched with ${known.value}. Remove ${watched.file} to begin anew with the key.`
    return yield* new CommandFailure({ message })
  }
  const trust = { vkey, ...provided({ origin: watched.origin }) }
  const note = yield* textOf(source, "checkpoint")
  const { checkpoint } = yield* open(note, trust)
  const cosigned = yield* Effect.promise(() =>
    openCheckpoint(note, { ...trust, ...provided({ witnesses: watched.policy }) }),
  )
  const seen = { vkey, note, checkpoint, cosigned }
  if (Option.isNone(before)) return { ...seen, relation: "grown" as const, old: 0, fork: undefined, pending: null }
  const last = before.value
  const old = (yield* open(last.checkpoint, trust)).checkpoint
  const way = yield* relate(source, old, checkpoint)
  // A forking log may show its second history for a moment only, so a note waits until its place is shown.
  const waiting = last.pending === null ? undefined : (yield* open(last.pending, trust)).checkpoint
  const place = waiting === undefined ? "continues" : yield* relate(source, waiting, checkpoint)
  const other = way === "differs" ? last.checkpoint : place === "differs" ? last.pending : null
  return {
    ...seen,
    relation:
      old.size > checkpoint.size
        ? ("shrunk" as const)
        : way === "continues"
          ? grown(old, checkpoint)
          : ("unproven" as const),
    old: old.size,
    fork: other === null ? undefined : [other, note],
    pending: place === "unknown" ? last.pending : way === "unknown" ? note : null,
  }
})

type Seen = Effect.Success<ReturnType<typeof seenNow>>

/** Both notes of a fork are signed with one key, and stay on this machine. */
const keepFork = Effect.fnUntraced(function* ({ file }: Watched, notes: ReadonlyArray<string>) {
  const kept = notes.map((_, at) => `${file}.fork-${at + 1}.checkpoint`)
  yield* Effect.forEach(kept, (name, at) => write(name, notes[at] ?? ""))
  return `it signed two histories. Keep both checkpoints: ${kept.join(" and ")}. Remove ${file} to begin anew.`
})

/** A cosignature dated in the future must not keep a frozen log fresh. */
const newestSignature = ({ cosigned }: Seen, now: number) =>
  cosigned.ok ? Math.max(0, ...cosigned.cosignatures.map(({ seconds }) => seconds * 1000).filter((at) => at <= now)) : 0

/** The alarms after a check. A fork stays for good; a failed check ends none. */
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

/** Checks once. Returns the next state, not yet remembered, and why nothing was seen if nothing was. */
export const check = Effect.fn("WatchedLog.check")(function* (
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
    // No check ran before this process began.
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
    pending: null,
    freshAt: now,
    unproven: 0,
    shrunk: 0,
    unsigned: 0,
    alarms: [],
    notices: [],
  }))
  const found = new Map<Cause, string>()
  const isContinued = seen.relation === "grown" || seen.relation === "same"
  const unproven = seen.pending === null ? 0 : last.unproven + 1
  const shrunk = seen.relation === "shrunk" ? last.shrunk + 1 : 0
  const unsigned = seen.cosigned.ok ? 0 : last.unsigned + 1
  const grewAt = seen.relation === "grown" ? now : last.freshAt
  const freshAt = isContinued ? Math.max(grewAt, newestSignature(seen, now)) : last.freshAt
  if (seen.fork !== undefined && last.alarms.every(({ cause }) => cause !== "fork"))
    found.set("fork", yield* keepFork(watched, seen.fork))
  if (unproven >= patience)
    found.set(
      "unproven",
      `it signed a checkpoint and does not show how the next one continues it. ${watched.file} has both.`,
    )
  if (shrunk >= patience)
    found.set("shrink", `it had ${seen.old} entries and shows ${seen.checkpoint.size}; a log never shrinks.`)
  if (!seen.cosigned.ok && unsigned >= patience) found.set("cosignatures", seen.cosigned.reason)
  if (now - freshAt > staleAfter) found.set("stale", `it has neither grown nor been cosigned since ${iso(freshAt)}.`)
  const { alarms, notices } = settle(last.alarms, found, true, now)
  const state: State = {
    vkey: last.vkey,
    checkpoint: isContinued ? seen.note : last.checkpoint,
    pending: seen.pending,
    freshAt,
    unproven,
    shrunk,
    unsigned,
    alarms,
    notices: [...last.notices, ...notices],
  }
  return { state: Option.some(state), why: Option.none<string>() }
})
