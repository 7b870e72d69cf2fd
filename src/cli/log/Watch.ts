/** `log watch`: follows logs and raises an alarm once for each cause. */
import { Clock, Config, Console, Effect, Layer, Metric, Option, Path, Redacted, Schema } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import { logAt } from "../../../schema/log/Policy.ts"
import { isLoopback } from "../../http/Origins.ts"
import * as Prometheus from "../../telemetry/Prometheus.ts"
import { folderOf } from "../buyer/Session.ts"
import { command, on, optionalText, text } from "../Define.ts"
import { exitsCleanly } from "../ExitCode.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as Download from "../verify/Download.ts"
import { policy } from "../verify/Verify.ts"
import { policyIn } from "./Policy.ts"
import { causes, check, type Notice, recall, remember, type State, type Watched } from "./WatchedLog.ts"

const seconds = (name: string, says: string, usual: number) =>
  Flag.Int(name).pipe(Flag.withDescription(`${says} (${usual})`), Flag.withDefault(usual))

const flags = {
  urls: Argument.String("url").pipe(
    Argument.withDescription("URL of a log or of its altar (else every log of the policy that has a URL)"),
    Argument.atLeast(0),
  ),
  vkey: optionalText(
    "vkey",
    "The verifier key of the one log (else that of the policy, the remembered one, or its own word)",
  ),
  origin: optionalText("origin", "First line of its checkpoints, when that is not the name of the key"),
  policy,
  once: on("once", "Check each log once. Exit code 1 when an alarm is raised or a log cannot be read"),
  every: seconds("every", "Seconds between two checks", 60),
  stale: seconds("stale", "Seconds without growth or a new cosignature before an alarm", 86_400),
  webhook: text(
    "webhook",
    "https URL that receives each alarm as JSON, once, without redirects (LOG_WATCH_WEBHOOK)",
  ).pipe(Flag.withFallbackConfig(Config.String("LOG_WATCH_WEBHOOK")), Flag.optional),
  data: optionalText("data", "Folder for checkpoints and alarms (else beside the journal)", "folder"),
  metricsPort: Flag.Int("metrics-port").pipe(
    Flag.withDescription("Port of this machine that serves /metrics to Prometheus"),
    Flag.optional,
  ),
}

type Flags = Command.Command.Config.Infer<typeof flags>

const logSize = Metric.gauge("altar.watch.size", {
  description: "Entries of the newest consistent checkpoint.",
})
const logFresh = Metric.gauge("altar.watch.fresh", { description: "Unix time of the last growth or cosignature." })
const logAlarm = Metric.gauge("altar.watch.alarm", { description: "1 while an alarm of this cause is raised." })
const logChecks = Metric.counter("altar.watch.checks", { description: "Checks of a log, by outcome." })

const sizeOf = ({ checkpoint }: State) => {
  const note = parseNote(checkpoint)
  const parsed = note instanceof Malformed ? note : parseCheckpoint(note.text)
  return parsed instanceof Malformed ? 0 : parsed.size
}

const measure = Effect.fnUntraced(function* ({ url: log }: Watched, state: Option.Option<State>, isRead: boolean) {
  yield* Metric.update(Metric.withAttributes(logChecks, { log, result: isRead ? "read" : "unread" }), 1)
  if (Option.isNone(state)) return
  yield* Metric.update(Metric.withAttributes(logSize, { log }), sizeOf(state.value))
  yield* Metric.update(Metric.withAttributes(logFresh, { log }), Math.floor(state.value.freshAt / 1000))
  for (const cause of causes) {
    const stands = state.value.alarms.some((one) => one.cause === cause)
    yield* Metric.update(Metric.withAttributes(logAlarm, { log, cause }), stands ? 1 : 0)
  }
})

/** Any failure leaves the notice for the next check. */
const post = (webhook: string, { url: log }: Watched, { cause, message, since, state }: Notice) =>
  HttpClientRequest.post(webhook).pipe(
    HttpClientRequest.setBody(
      HttpBody.jsonUnsafe({ log, cause, state, since: new Date(since).toISOString(), message: plain(message) }),
    ),
    HttpClient.execute,
    Effect.timeout("10 seconds"),
    Effect.map(({ status }) => status >= 200 && status < 300),
    Effect.orElseSucceed(() => false),
  )

/** Changes that a webhook may miss before the oldest is forgotten. */
const noticeLimit = 20

/** Posts in order until one fails. Returns the rest. */
const postAll = Effect.fnUntraced(function* (webhook: string, watched: Watched, notices: ReadonlyArray<Notice>) {
  for (const [at, notice] of notices.entries()) {
    if (!(yield* post(webhook, watched, notice))) return notices.slice(at)
  }
  return []
})

/** Checks, stores, and then notifies, so that a stop between leaves the notice to the next check. */
export const checkLog = Effect.fn("checkLog")(function* (
  watched: Watched,
  startedAt: number,
  webhook: Option.Option<string>,
) {
  const before = yield* recall(watched)
  const { state, why } = yield* check(watched, before, startedAt)
  yield* measure(watched, state, Option.isNone(why))
  const say = (sentence: string) => Console.error(plain(sentence))
  if (Option.isSome(why)) yield* say(`${watched.url} was not read: ${why.value}`)
  if (Option.isNone(state)) return { alarms: [], isRead: false }
  yield* remember(watched, state.value)
  const known = Option.match(before, { onNone: () => 0, onSome: ({ notices }) => notices.length })
  for (const { cause, message, state: is } of state.value.notices.slice(known)) {
    yield* say(`${is === "raised" ? "ALARM" : "OVER"} ${watched.url} ${cause}: ${message}`)
  }
  if (state.value.notices.length > 0) {
    const untold = yield* Option.match(webhook, {
      onNone: () => Effect.succeed([]),
      onSome: (to) => postAll(to, watched, state.value.notices),
    })
    if (untold.length > 0) yield* say("The webhook did not accept an alarm. It is posted again after the next check.")
    yield* remember(watched, { ...state.value, notices: untold.slice(-noticeLimit) })
  }
  return { alarms: state.value.alarms, isRead: Option.isNone(why) }
})

const bare = (url: string) => url.replace(/\/+$/u, "")

const targetsOf = Effect.fnUntraced(function* ({ data, once, origin, policy: file, stale, urls, vkey }: Flags) {
  const path = yield* Path.Path
  const rules = yield* policyIn(file)
  const named = urls.map(bare)
  const found =
    named.length > 0 ? named : Option.match(rules, { onNone: () => [], onSome: (one) => [...one.urls.values()] })
  if (found.length === 0)
    return yield* new CommandFailure({ message: "Name the URL of a log, or a --policy whose logs have URLs." })
  if (new Set(found).size < found.length)
    return yield* new CommandFailure({ message: "A log is named twice. Name the URL of each log once." })
  if (found.length > 1 && Option.isSome(vkey))
    return yield* new CommandFailure({ message: "--vkey is the key of one log. Name several logs in a --policy." })
  const folder = path.join(yield* folderOf(data), "watch")
  return found.map((url): Watched => ({
    url,
    file: path.join(folder, `${encodeURIComponent(url)}.json`),
    vkey: Option.orElse(vkey, () => Option.flatMapNullishOr(rules, (one) => logAt(one, url))),
    origin,
    policy: rules,
    staleAfter: stale * 1000,
    patience: once ? 1 : 2,
  }))
})

const isSafe = (url: string) => URL.canParse(url) && (new URL(url).protocol === "https:" || isLoopback(url))

class Alarmed extends Schema.TaggedError<Alarmed>()("Alarmed", { message: Schema.String }) {}

export const watching = Effect.fn("watching")(function* (flags: Flags) {
  const { every, metricsPort, once, webhook } = flags
  const hook = Option.map(webhook, Redacted.make)
  if (Option.exists(webhook, (url) => !isSafe(url)))
    return yield* new CommandFailure({ message: "--webhook is no https URL." })
  const targets = yield* targetsOf(flags)
  const startedAt = yield* Clock.currentTimeMillis
  const checkOnce = (one: Watched) => checkLog(one, startedAt, Option.map(hook, Redacted.value))
  if (once) {
    const checked = yield* Effect.forEach(targets, checkOnce)
    const stands = checked.flatMap(({ alarms }, at) => alarms.map(({ cause }) => `${cause} of ${targets[at]?.url}`))
    const unread = targets.filter((_, at) => checked[at]?.isRead !== true).map(({ url }) => `${url} was not read`)
    if (stands.length + unread.length > 0)
      return yield* new Alarmed({ message: plain([...stands, ...unread].join("; ")) })
    return yield* Console.log(plain(`${targets.map(({ url }) => url).join(", ")}: nothing but growth.`))
  }
  yield* exitsCleanly
  const measured = Option.match(metricsPort, {
    onNone: () => Layer.empty,
    onSome: (port) => Prometheus.layer({ host: "127.0.0.1", port }),
  })
  const following = Effect.forEach(
    targets,
    (one) => Effect.forever(Effect.andThen(checkOnce(one), Effect.sleep(every * 1000))),
    { concurrency: "unbounded", discard: true },
  )
  return yield* Effect.provide(following, measured)
}, Effect.provide(Download.plainClient))

export const watch = command("watch", {
  description:
    "Follow logs and compare each new checkpoint with the last one seen here. An alarm is raised once for a fork, a signed checkpoint whose place is not shown, a shrink, a stale checkpoint or a missing cosignature, and ends with its cause; a fork stays until its file is removed. All but a fork and a stale checkpoint count at the second check, and with --once at the first",
  summary: "Watch logs, and raise an alarm when one misbehaves",
  examples: [
    ["spirit-altar log watch https://altar.example --policy trusted --webhook https://hooks.example/T0", "Watch a log"],
    ["spirit-altar log watch --policy trusted --once", "Check all logs of a policy once, from a timer"],
  ],
  flags,
  run: watching,
})
