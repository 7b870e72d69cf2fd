/** A watch over logs: an alarm once for each cause, none for a restart of its own, and every alarm is told. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Clock, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseNote } from "../../schema/log/Note.ts"
import { checkLog, watching } from "../../src/cli/log/Watch.ts"
import { recall, type Watched } from "../../src/cli/log/WatchedLog.ts"
import { leafOf } from "../../src/log/Tree.ts"
import * as Prometheus from "../../src/telemetry/Prometheus.ts"
import { newFolder } from "../lab/Folders.ts"
import { signer } from "../lab/log/LogFixture.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { cosignerOf, policyOf } from "../lab/log/Witnesses.ts"
import { listening } from "../lab/proxy/HttpServer.ts"
import { assert, suite } from "../lab/Suites.ts"

const all = StaticLog.entriesOf(600)
const cosigner = cosignerOf("w.example/w")
const policy = Option.some(policyOf([{ name: "w", vkey: cosigner.vkey, url: "http://w.example" }], "w"))

/** The witness of the policy signs each checkpoint, at that time. */
const cosign = (log: StaticLog.Log, seconds: () => number) => {
  log.cosignatures = (note) => {
    const parsed = parseNote(note)
    return parsed instanceof Malformed ? "" : (cosigner.line(parsed.text, seconds()) ?? "")
  }
}

const rewritten = StaticLog.entriesOf(600, (sequence) => (sequence > 400 ? "rewritten" : ""))

/** A webhook that takes alarms or answers otherwise, and what it was told. */
const hook = Effect.gen(function* () {
  const got: Array<{ readonly cause: string; readonly state: string; readonly message: string }> = []
  const answer = { status: 204, location: "" }
  const base = yield* listening((body, response, { url: path }) => {
    if (path !== "/hook") got.push({ cause: "redirected", state: "", message: "" })
    else if (answer.status === 204) got.push(JSON.parse(body))
    response.writeHead(answer.status, answer.location === "" ? {} : { location: answer.location }).end()
  })
  return { base, got, answer, told: () => got.map(({ cause, state }) => `${cause} ${state}`) }
})

/** A log under watch. Each check runs as a new process, which shares only the file with the one before. */
const watchedLog = Effect.fnUntraced(function* (size = all.length, more: Partial<Watched> = {}) {
  const log = yield* StaticLog.serve(all)
  log.size = size
  const watched: Watched = {
    url: log.base,
    file: join(newFolder(), "log.json"),
    vkey: Option.some(signer.vkey),
    origin: Option.none(),
    policy: Option.none(),
    staleAfter: 86_400_000,
    patience: 2,
    ...more,
  }
  const receiver = yield* hook
  const causesAt = (startedAt: number) =>
    Effect.map(checkLog(watched, startedAt, Option.some(`${receiver.base}/hook`)), ({ alarms }) =>
      alarms.map(({ cause }) => cause),
    )
  const check = Effect.andThen(TestClock.adjust("1 minute"), Effect.flatMap(Clock.currentTimeMillis, causesAt))
  /** A check has these alarms. */
  const raises = (causes: ReadonlyArray<string>, why?: string) =>
    Effect.map(check, (raised) => assert.deepStrictEqual<ReadonlyArray<string>>(raised, causes, why))
  const checkpoint = Effect.map(recall(watched), (known) => Option.getOrThrow(known).checkpoint)
  return { ...receiver, log, watched, causesAt, check, raises, checkpoint }
})

suite(
  "a watch of logs",
  Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici),
  (it) => {
    it("raises nothing for a growing log, one old copy, or its own pause", function* () {
      const { log, raises, told } = yield* watchedLog()
      for (const size of [1, 255, 256, 257, 257, 200, 400]) {
        log.size = size
        yield* raises([], String(size))
      }
      // Stopped for days, and started before the network is there.
      yield* TestClock.adjust("3 days")
      log.isAway = true
      yield* raises([])
      log.isAway = false
      log.size = 500
      yield* raises([])
      assert.deepStrictEqual(told(), [])
    })

    it("raises a shrink at the second inspection, once, and reports its end", function* () {
      const { check, log, raises, told } = yield* watchedLog()
      yield* check
      log.size = 590
      yield* raises([])
      for (let at = 0; at < 3; at += 1) yield* raises(["shrink"])
      assert.deepStrictEqual(told(), ["shrink raised"])
      log.isAway = true
      yield* raises(["shrink"], "silence ends no alarm")
      log.isAway = false
      log.size = 600
      yield* raises([])
      assert.deepStrictEqual(told(), ["shrink raised", "shrink over"])
    })

    it("raises a fork of any size at once, stores both checkpoints, and never withdraws it", function* () {
      for (const size of [500, 600]) {
        const { check, checkpoint, got, log, raises, told, watched } = yield* watchedLog(500)
        yield* check
        const before = yield* checkpoint
        StaticLog.become(log, rewritten)
        log.size = size
        yield* raises(["fork"])
        log.size = 1100 - size
        yield* raises(["fork"], "a second fork fills no disk")
        assert.strictEqual(yield* checkpoint, before)
        const kept = readdirSync(dirname(watched.file)).filter((name) => name.endsWith(".checkpoint"))
        assert.lengthOf(kept, 2)
        for (const name of kept) assert.include(got[0]?.message, name)
        const [first = "", second = ""] = kept.map((name) => readFileSync(join(dirname(watched.file), name), "utf8"))
        assert.strictEqual(first, before)
        assert.match(second, new RegExp(`\\n${size}\\n`, "u"))
        StaticLog.become(log, all)
        yield* raises(["fork"], "two signed checkpoints stay a proof")
        assert.deepStrictEqual(told(), ["fork raised"])
        rmSync(watched.file)
        yield* raises([], "its operator begins anew")
      }
    })

    it("alarms on a signed second history that is shown once, and proves the fork when the log grows", function* () {
      const { check, got, log, raises, told } = yield* watchedLog(590)
      yield* check
      // The files stay those of the first history.
      log.signed = new MemoryLog().append(rewritten.map(leafOf))
      log.size = 595
      yield* raises([])
      log.signed = undefined
      log.size = 590
      yield* raises(["unproven"])
      log.size = 600
      yield* raises(["fork"])
      assert.deepStrictEqual(told(), ["unproven raised", "unproven over", "fork raised"])
      const kept = /and (\S+)\. Remove/u.exec(got[2]?.message ?? "")?.[1] ?? ""
      assert.match(readFileSync(kept.replace("fork-2", "fork-1"), "utf8"), /\n595\n/u)
      assert.match(readFileSync(kept, "utf8"), /\n600\n/u)
    })

    it("lets a checkpoint whose tiles came late pass", function* () {
      const { check, checkpoint, log, raises, told } = yield* watchedLog(500)
      yield* check
      log.size = 600
      log.hasTiles = false
      yield* raises([])
      yield* raises(["unproven"])
      log.hasTiles = true
      yield* raises([])
      assert.deepStrictEqual(told(), ["unproven raised", "unproven over"])
      assert.match(yield* checkpoint, /\n600\n/u)
    })

    it("raises a missing cosignature, a stale checkpoint until it grows or is cosigned again, and a log that cannot be read", function* () {
      const { causesAt, checkpoint, log, raises, told } = yield* watchedLog(500, { policy })
      yield* raises([])
      log.size = 501
      yield* raises(["cosignatures"], "its checkpoint is followed all the same")
      assert.match(yield* checkpoint, /\n501\n/u)
      let signedAt = 0
      cosign(log, () => signedAt)
      yield* raises([])
      yield* TestClock.adjust("25 hours")
      for (const _ of [1, 2]) yield* raises(["stale"])
      signedAt = (yield* Clock.currentTimeMillis) / 1000 + 86_400 * 365
      yield* raises(["stale"], "a date in the future refreshes nothing")
      signedAt = (yield* Clock.currentTimeMillis) / 1000
      yield* raises([], "its witness has signed it again")
      yield* TestClock.adjust("25 hours")
      yield* raises(["stale"])
      log.size = 502
      yield* raises([])
      assert.deepStrictEqual(told().slice(0, 2), ["cosignatures raised", "cosignatures over"])
      assert.deepStrictEqual(told().slice(2), ["stale raised", "stale over", "stale raised", "stale over"])
      const startedAt = yield* Clock.currentTimeMillis
      log.isAway = true
      for (const expected of [[], ["stale"], ["stale"]]) {
        assert.sameOrderedMembers<string>(yield* causesAt(startedAt), expected)
        yield* TestClock.adjust("25 hours")
      }
      assert.deepStrictEqual(told().slice(6), ["stale raised"])
    })

    it("posts an alarm until it is accepted, without following redirects", function* () {
      const { answer, base, check, log, raises, told } = yield* watchedLog()
      yield* check
      StaticLog.become(log, rewritten)
      for (const status of [500, 307]) {
        answer.status = status
        answer.location = status === 307 ? `${base}/other` : ""
        yield* raises(["fork"])
        assert.deepStrictEqual(told(), [])
      }
      answer.status = 204
      answer.location = ""
      for (const _ of [1, 2]) yield* check
      assert.deepStrictEqual(told(), ["fork raised"])
    })

    it("that runs once fails for each alarm and each unreadable log, and measures both", function* () {
      const [good, bad] = [yield* StaticLog.serve(all), yield* StaticLog.serve(all)]
      const data = newFolder()
      const trusted = join(data, "trusted")
      writeFileSync(trusted, `log ${signer.vkey}\nquorum none\n`)
      const [urls, none] = [[good.base, bad.base], Option.none()]
      const seconds = { every: 60, stale: 86_400 }
      const files = { policy: Option.some(trusted), data: Option.some(data) }
      const flags = {
        urls,
        vkey: none,
        origin: none,
        once: true,
        webhook: none,
        metricsPort: none,
        ...seconds,
        ...files,
      }
      yield* watching(flags)
      yield* Effect.flip(watching({ ...flags, urls: [good.base, `${good.base}/`] }))
      for (const webhook of ["http://localhost:x@hooks.example/", "http://hooks.example/"])
        yield* Effect.flip(watching({ ...flags, webhook: Option.some(webhook) }))
      bad.size = 10
      assert.strictEqual((yield* Effect.flip(watching(flags))).message, `shrink of ${bad.base}`)
      bad.isAway = true
      const { message } = yield* Effect.flip(watching(flags))
      assert.strictEqual(message, `shrink of ${bad.base}; ${bad.base} was not read`)
      const metrics = yield* Prometheus.text
      assert.include(metrics, `altar_watch_alarm{log="${bad.base}",cause="shrink"} 1`)
      assert.include(metrics, `altar_watch_checks_total{log="${bad.base}",result="unread"} 1`)
    })
  },
  { excludeTestServices: false },
)
