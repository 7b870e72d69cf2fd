/** The checks of `log join`: that strangers get from the public URL all that a checkpoint of this log needs. */
import { Clock, Console, Effect, Option } from "effect"
import { HttpClientRequest } from "effect/http"
import { concat, equal } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { inclusionRanges } from "../../../schema/log/Merkle.ts"
import { fullWidth, widthAt } from "../../../schema/log/Tile.ts"
import { hashOfRange, leafOf, nodeOf, proofOf } from "../../log/Tree.ts"
import { type CheckResult, failed, ok } from "../operator/CheckResult.ts"
import { plain } from "../Output.ts"
import { type CheckFailed, CommandFailure } from "../CommandFailure.ts"
import * as Download from "../verify/Download.ts"
import { entriesOf, fileLimit, type LogSource, tileOf, tilesOf } from "./LogSource.ts"
import { open } from "./OpenedLog.ts"

export interface ServedLog {
  /** The URL of its files, without a trailing slash. */
  readonly url: string
  readonly vkey: string
  /** The stated minimum seconds between two checkpoints. */
  readonly seconds: number
  /** The start of the names of its checks. */
  readonly prefix: "" | "acts/"
}

/** Maximum seconds that a cache may keep a checkpoint. An older one looks like a log that shrinks. */
const checkpointAge = 10

/** Seconds that an answer may be old. Infinite where no header limits its caches. */
export const staleness = (headers: Readonly<Record<string, string | undefined>>): number => {
  const caching = (headers["cache-control"] ?? "").toLowerCase()
  const directives = [...caching.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]*)))?/gu)]
  const isGiven = (name: string) => directives.some(([text, one]) => one === name && text === name)
  const isForbidden = isGiven("no-store") || isGiven("no-cache")
  // Caches exist that follow s-maxage in spite of no-cache.
  const limits = directives.flatMap(([, name = "", quoted, token]) =>
    name === "s-maxage" || (!isForbidden && /^(?:max-age|stale-while-revalidate)$/u.test(name))
      ? [Number((quoted ?? token) || Number.POSITIVE_INFINITY)]
      : [],
  )
  const kept =
    limits.length > 0 ? limits.reduce((one, other) => one + other) : isForbidden ? 0 : Number.POSITIVE_INFINITY
  const seconds = Math.max(kept, Number(headers["age"] ?? 0))
  return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds
}

/** The files of tlog-tiles, each with the content type that it must have. */
const typed = (url: string): LogSource => ({
  name: url,
  file: Effect.fnUntraced(function* (path) {
    const address = `${url}/${path}`
    const { body, headers } = yield* Effect.mapError(
      Download.fullAnswerOf(HttpClientRequest.get(address), fileLimit),
      ({ why }) => new CommandFailure({ message: plain(`${address} could not be read: ${why}`) }),
    )
    const expected = path === "checkpoint" ? "text/plain; charset=utf-8" : "application/octet-stream"
    const type = headers["content-type"] ?? "none"
    if (type.toLowerCase().replaceAll(" ", "") !== expected.replace(" ", "")) {
      return yield* new CommandFailure({ message: plain(`${address} has the content type ${type}, not ${expected}`) })
    }
    const seconds = path === "checkpoint" ? staleness(headers) : 0
    if (seconds <= checkpointAge) return body
    return yield* new CommandFailure({
      message: Number.isFinite(seconds)
        ? `${address} may be kept for ${seconds} seconds by caches; let them ask again within ${checkpointAge}`
        : `${address} says with no valid cache-control how long caches may keep it; let it say no-cache`,
    })
  }),
})

const wrong = (message: string) => new CommandFailure({ message })

/** The newest checkpoint, verified by the log's key. */
export const newest = Effect.fnUntraced(function* ({ url, vkey }: ServedLog) {
  const note = new TextDecoder().decode(yield* typed(url).file("checkpoint"))
  return { note, checkpoint: (yield* open(note, { vkey })).checkpoint }
})

const signed = Effect.fnUntraced(function* (log: ServedLog, note: string) {
  const { checkpoint } = yield* open(note, { vkey: log.vkey })
  if (checkpoint.size === 0) return yield* wrong("the checkpoint covers nothing yet: sell one stone first")
  return [checkpoint, `covers ${checkpoint.size} entries, and the log's key has signed it`] as const
})

const tilesHold = Effect.fnUntraced(function* ({ url }: ServedLog, checkpoint: Checkpoint) {
  const { root, size } = checkpoint
  const whole = { from: 0, to: size }
  const found = hashOfRange(whole, yield* tilesOf(typed(url), [whole], size))
  if (found === undefined || !equal(found, root)) return yield* wrong("the tiles do not have the signed root")
  return [checkpoint, "the tiles that the checkpoint needs have the signed root"] as const
})

/** The first bundle and the last, and the proof of the first entry, which needs a tile of each level. */
const entriesHold = Effect.fnUntraced(function* ({ url }: ServedLog, checkpoint: Checkpoint) {
  const { root, size } = checkpoint
  const source = typed(url)
  for (const index of new Set([0, Math.ceil(size / fullWidth) - 1])) {
    const bundle = { index, width: widthAt(size, { level: 0, index }) }
    const leaves = concat(...(yield* entriesOf(source, bundle)).map(leafOf))
    if (!equal(leaves, yield* tileOf(source, { ...bundle, level: 0 }))) {
      return yield* wrong(`the entries from ${index * fullWidth + 1} on are not those of their tile`)
    }
  }
  const ranges = inclusionRanges(0, size)
  const read = yield* tilesOf(source, [{ from: 0, to: 1 }, ...ranges], size)
  const [first, proof] = [hashOfRange({ from: 0, to: 1 }, read), proofOf(ranges, read)]
  // All siblings of the first leaf are to its right.
  const isIncluded =
    first !== undefined &&
    proof !== undefined &&
    equal(
      proof.reduce((left, right) => nodeOf(left, right), first),
      root,
    )
  if (!isIncluded) return yield* wrong("the first entry is not in the tree")
  return [checkpoint, "the first and the last are those of the tree"] as const
})

/** Sees whether checkpoints come more often than stated, for two of their intervals. */
const rateHolds = Effect.fnUntraced(function* (log: ServedLog, from: Checkpoint) {
  const span = Math.min(60, 2 * log.seconds) * 1000
  yield* Console.error(`Reading the checkpoint for ${span / 1000} seconds …`)
  const startedAt = yield* Clock.currentTimeMillis
  let last = from
  let [count, passed] = [0, 0]
  while (passed < span) {
    yield* Effect.sleep(Math.min(1000, 250 * log.seconds))
    const { checkpoint } = yield* newest(log)
    passed = (yield* Clock.currentTimeMillis) - startedAt
    if (checkpoint.size < last.size) {
      return yield* wrong(`the checkpoint shrank from ${last.size} to ${checkpoint.size} entries`)
    }
    if (checkpoint.size > last.size) count += 1
    last = checkpoint
  }
  const most = Math.floor(passed / 1000 / log.seconds) + 1
  const seen = `${count} new checkpoints in ${Math.round(passed / 1000)} seconds`
  if (count > most) return yield* wrong(`${seen}, and one every ${log.seconds} seconds is stated`)
  return [last, `${seen}; one every ${log.seconds} seconds is stated`] as const
})

type Checking<B, R> = Effect.Effect<readonly [B, string], CheckFailed | CommandFailure, R>

/** A line of the report with what the next check needs. A check whose input is missing is skipped. */
const after = <A, B, R>(before: Option.Option<A>, check: string, run: (value: A) => Checking<B, R>) =>
  Option.match(before, {
    onNone: () => {
      const line: CheckResult = { check, state: "skipped", message: "a check before it failed" }
      return Effect.succeed({ line, value: Option.none<B>() })
    },
    onSome: (value) =>
      Effect.match(run(value), {
        onFailure: ({ message }) => ({ line: failed(check, message), value: Option.none<B>() }),
        onSuccess: ([next, message]) => ({ line: ok(check, message), value: Option.some(next) }),
      }),
  })

/** Checks what the URL serves, one line for each check. */
export const checkServed = Effect.fn("checkServed")(function* (log: ServedLog) {
  const note = yield* after(Option.some(log), "checkpoint", ({ url }) =>
    Effect.map(typed(url).file("checkpoint"), (body) => [
      new TextDecoder().decode(body),
      `${url}/checkpoint is served, and caches keep it for ${checkpointAge} seconds at most`,
    ]),
  )
  const checkpoint = yield* after(note.value, "signature", (text) => signed(log, text))
  const tiles = yield* after(checkpoint.value, "tiles", (one) => tilesHold(log, one))
  const entries = yield* after(tiles.value, "entries", (one) => entriesHold(log, one))
  const rate = yield* after(entries.value, "rate", (one) => rateHolds(log, one))
  return [note, checkpoint, tiles, entries, rate].map(({ line }) => ({ ...line, check: log.prefix + line.check }))
})
