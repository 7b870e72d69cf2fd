/** A watch over logs: an alarm once for each cause, none for a restart of its own, and every alarm is told. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { parseNote } from "../../schema/log/Note.ts"
import { Malformed } from "../../schema/log/Bytes.ts"
import { checkLog, watching } from "../../src/cli/log/Watch.ts"
import { recall, type Watched } from "../../src/cli/log/WatchedLog.ts"
import { leafOf } from "../../src/log/Tree.ts"
import * as Prometheus from "../../src/telemetry/Prometheus.ts"
import { suite } from "../lab/Suites.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { cosignerOf, policyOf } from "../lab/log/Witnesses.ts"
import { listening } from "../lab/Socket.ts"
import { newFolder } from "../lab/Folders.ts"
import { valuesOf } from "../lab/Assertions.ts"

const all = StaticLog.entriesOf(600)
const hour = 3_600_000

type Log = Effect.Success<ReturnType<typeof StaticLog.serve>>

const watchedOf = ({ base }: Log, more: Partial<Watched> = {}): Watched => ({
  url: base,
  file: join(newFolder(), "log.json"),
  vkey: Option.some(signer.vkey),
  origin: Option.none(),
  policy: Option.none(),
  staleAfter: 24 * hour,
  patience: 2,
  ...more,
})

/** A receiver of alarms, which takes them or answers otherwise. */
const hook = Effect.gen(function* () {
  const got: Array<{ readonly cause: string; readonly state: string; readonly message: string }> = []
  const answer = { status: 204, location: "" }
  const url = yield* listening((body, response, { url: path }) => {
    if (path !== "/hook")
      return void response.writeHead(204).end(got.push({ cause: "redirected", state: "", message: "" }))
    if (answer.status === 204) got.push(JSON.parse(body))
    response.writeHead(answer.status, answer.location === "" ? {} : { location: answer.location }).end()
  })
  return {
    url: `${url}/hook`,
    other: `${url}/other`,
    got,
    answer,
    told: () => got.map(({ cause, state }) => `${cause} ${state}`),
  }
})

/** Each check runs as a new process, which shares only the file with the one before. */
const checkAgain = Effect.fnUntraced(function* (watched: Watched, url: string) {
  yield* TestClock.adjust("1 minute")
  const now = yield* Clock.currentTimeMillis
  const { alarms } = yield* checkLog(watched, now, Option.some(url))
  return alarms.map(({ cause }) => cause)
})

const rewritten = (from: number) => StaticLog.entriesOf(600, (sequence) => (sequence > from ? "rewritten" : ""))

const fork = (log: Log, from: number) => {
  log.entries = rewritten(from)
  log.log = new MemoryLog().append(log.entries.map(leafOf))
}

const mend = (log: Log) => {
  log.entries = all
  log.log = new MemoryLog().append(all.map(leafOf))
}

suite(
  "a watch of logs",
  Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici),
  (it) => {
    it("raises nothing for a growing log, one old copy, or its own pause", function* () {
      const log = yield* StaticLog.serve(all)
      const watched = watchedOf(log)
      const { told, url } = yield* hook
      for (const size of [1, 255, 256, 257, 257, 200, 400]) {
        log.size = size
        assert.deepStrictEqual(yield* checkAgain(watched, url), [], String(size))
      }
      // Stopped for days, and started before the network is there.
      yield* TestClock.adjust("3 days")
      log.isAway = true
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      log.isAway = false
      log.size = 500
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(told(), [])
    })

    it("raises a shrink at the second inspection, once, and reports its end", function* () {
      const log = yield* StaticLog.serve(all)
      const watched = watchedOf(log)
      const { told, url } = yield* hook
      yield* checkAgain(watched, url)
      log.size = 590
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      for (let at = 0; at < 3; at += 1) assert.deepStrictEqual(yield* checkAgain(watched, url), ["shrink"])
      assert.deepStrictEqual(told(), ["shrink raised"])
      log.isAway = true
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["shrink"], "silence ends no alarm")
      log.isAway = false
      log.size = 600
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(told(), ["shrink raised", "shrink over"])
    })

    it("raises a fork of any size at once, stores both checkpoints, and never withdraws it", function* () {
      for (const size of [500, 600]) {
        const log = yield* StaticLog.serve(all)
        log.size = 500
        const watched = watchedOf(log)
        const { got, told, url } = yield* hook
        yield* checkAgain(watched, url)
        const before = Option.getOrThrow(yield* recall(watched)).checkpoint
        fork(log, 400)
        log.size = size
        assert.deepStrictEqual(yield* checkAgain(watched, url), ["fork"])
        log.size = 1100 - size
        assert.deepStrictEqual(yield* checkAgain(watched, url), ["fork"], "a second fork fills no disk")
        assert.strictEqual(Option.getOrThrow(yield* recall(watched)).checkpoint, before)
        const kept = readdirSync(dirname(watched.file)).filter((name) => name.endsWith(".checkpoint"))
        assert.lengthOf(kept, 2)
        for (const name of kept) assert.include(got[0]?.message, name)
        const [first = "", second = ""] = kept.map((name) => readFileSync(join(dirname(watched.file), name), "utf8"))
        assert.strictEqual(first, before)
        assert.match(second, new RegExp(`\\n${size}\\n`, "u"))
        mend(log)
        assert.deepStrictEqual(yield* checkAgain(watched, url), ["fork"], "two signed checkpoints stay a proof")
        assert.deepStrictEqual(told(), ["fork raised"])
        rmSync(watched.file)
        assert.deepStrictEqual(yield* checkAgain(watched, url), [], "its operator begins anew")
      }
    })

    it("alarms on a signed second history that is shown once, and proves the fork when the log grows", function* () {
      const log = yield* StaticLog.serve(all)
      log.size = 590
      const watched = watchedOf(log)
      const { got, told, url } = yield* hook
      yield* checkAgain(watched, url)
      // The files stay those of the first history.
      log.signed = new MemoryLog().append(rewritten(400).map(leafOf))
      log.size = 595
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      log.signed = undefined
      log.size = 590
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["unproven"])
      log.size = 600
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["fork"])
      assert.deepStrictEqual(told(), ["unproven raised", "unproven over", "fork raised"])
      const kept = /and (\S+)\. Remove/u.exec(got[2]?.message ?? "")?.[1] ?? ""
      assert.match(readFileSync(kept.replace("fork-2", "fork-1"), "utf8"), /\n595\n/u)
      assert.match(readFileSync(kept, "utf8"), /\n600\n/u)
    })

    it("lets a checkpoint whose tiles came late pass", function* () {
      const log = yield* StaticLog.serve(all)
      log.size = 500
      const watched = watchedOf(log)
      const { told, url } = yield* hook
      yield* checkAgain(watched, url)
      log.size = 600
      log.hasTiles = false
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["unproven"])
      log.hasTiles = true
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(told(), ["unproven raised", "unproven over"])
      assert.match(Option.getOrThrow(yield* recall(watched)).checkpoint, /\n600\n/u)
    })

    it("follows no other key than the named one, and no other than at first", function* () {
      const log = yield* StaticLog.serve(all)
      const watched = watchedOf(log)
      const { url } = yield* hook
      yield* checkAgain(watched, url)
      const other = { ...watched, vkey: Option.some(cosignerOf("other.example").vkey) }
      const { isRead } = yield* checkLog(other, 0, Option.some(url))
      assert.isFalse(isRead)
    })

    it("raises a stale checkpoint until it grows or is cosigned again, and a log that cannot be read", function* () {
      const cosigner = cosignerOf("w.example/w")
      const policy = policyOf([{ name: "w", vkey: cosigner.vkey, url: "http://w.example" }], "w")
      const log = yield* StaticLog.serve(all)
      log.size = 500
      let signedAt = 0
      log.cosignatures = (note) => {
        const parsed = parseNote(note)
        return parsed instanceof Malformed ? "" : (cosigner.line(parsed.text, signedAt) ?? "")
      }
      const watched = watchedOf(log, { policy: Option.some(policy) })
      const { told, url } = yield* hook
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      yield* TestClock.adjust("25 hours")
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* checkAgain(watched, url), ["stale"])
      signedAt = (yield* Clock.currentTimeMillis) / 1000 + 86_400 * 365
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["stale"], "a date in the future refreshes nothing")
      signedAt = (yield* Clock.currentTimeMillis) / 1000
      assert.deepStrictEqual(yield* checkAgain(watched, url), [], "its witness has signed it again")
      yield* TestClock.adjust("25 hours")
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["stale"])
      log.size = 501
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(told(), ["stale raised", "stale over", "stale raised", "stale over"])
      const startedAt = yield* Clock.currentTimeMillis
      log.isAway = true
      for (const expected of [[], ["stale"], ["stale"]]) {
        const { alarms } = yield* checkLog(watched, startedAt, Option.some(url))
        assert.sameOrderedMembers(valuesOf(alarms, "cause"), expected)
        yield* TestClock.adjust("25 hours")
      }
      assert.deepStrictEqual(told().slice(4), ["stale raised"])
    })

    it("raises a missing cosignature at the second inspection, and still follows the log", function* () {
      const cosigner = cosignerOf("w.example/w")
      const policy = policyOf([{ name: "w", vkey: cosigner.vkey, url: "http://w.example" }], "w")
      const log = yield* StaticLog.serve(all)
      log.size = 500
      const watched = watchedOf(log, { policy: Option.some(policy) })
      const { told, url } = yield* hook
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      log.size = 600
      assert.deepStrictEqual(yield* checkAgain(watched, url), ["cosignatures"])
      assert.match(Option.getOrThrow(yield* recall(watched)).checkpoint, /\n600\n/u)
      log.cosignatures = (note) => {
        const parsed = parseNote(note)
        return parsed instanceof Malformed ? "" : (cosigner.line(parsed.text, 1) ?? "")
      }
      assert.deepStrictEqual(yield* checkAgain(watched, url), [])
      assert.deepStrictEqual(told(), ["cosignatures raised", "cosignatures over"])
    })

    it("posts an alarm until it is accepted, without following redirects", function* () {
      const log = yield* StaticLog.serve(all)
      const watched = watchedOf(log)
      const { answer, other, told, url } = yield* hook
      yield* checkAgain(watched, url)
      fork(log, 400)
      for (const status of [500, 307]) {
        answer.status = status
        answer.location = status === 307 ? other : ""
        assert.deepStrictEqual(yield* checkAgain(watched, url), ["fork"])
        assert.deepStrictEqual(told(), [])
      }
      answer.status = 204
      answer.location = ""
      for (const _ of [1, 2]) yield* checkAgain(watched, url)
      assert.deepStrictEqual(told(), ["fork raised"])
    })

    it("remembers the twenty newest changes of state for a webhook that is away", function* () {
      const log = yield* StaticLog.serve(all)
      const watched = { ...watchedOf(log), patience: 1 }
      const { answer, told, url } = yield* hook
      answer.status = 500
      for (let at = 0; at < 15; at += 1) {
        for (const size of [600, 500]) {
          log.size = size
          yield* checkAgain(watched, url)
        }
      }
      assert.lengthOf(Option.getOrThrow(yield* recall(watched)).notices, 20)
      answer.status = 204
      yield* checkAgain(watched, url)
      assert.deepStrictEqual(told(), Array.from({ length: 10 }, () => ["shrink over", "shrink raised"]).flat())
    })

    it("that runs once fails for each alarm and each unreadable log, and measures both", function* () {
      const [good, bad] = [yield* StaticLog.serve(all), yield* StaticLog.serve(all)]
      const data = newFolder()
      const trusted = join(data, "trusted")
      writeFileSync(trusted, `log ${signer.vkey}\nquorum none\n`)
      const flags = {
        urls: [good.base, bad.base],
        vkey: Option.none(),
        origin: Option.none(),
        policy: Option.some(trusted),
        once: true,
        every: 60,
        stale: 86_400,
        webhook: Option.none(),
        data: Option.some(data),
        metricsPort: Option.none(),
      }
      yield* watching(flags)
      for (const wrong of [
        { urls: [good.base, `${good.base}/`] },
        { webhook: Option.some("http://localhost:x@hooks.example/") },
        { webhook: Option.some("http://hooks.example/") },
      ]) {
        yield* Effect.flip(watching({ ...flags, ...wrong }))
      }
      bad.size = 10
      assert.strictEqual((yield* Effect.flip(watching(flags))).message, `shrink of ${bad.base}`)
      bad.isAway = true
      const { message } = yield* Effect.flip(watching(flags))
      assert.strictEqual(message, `shrink of ${bad.base}; ${bad.base} was not read`)
      const metrics = yield* Prometheus.text
      assert.include(metrics, `altar_watch_alarm{log="${bad.base}",cause="shrink"} 1`)
      assert.include(metrics, `altar_watch_size{log="${good.base}"} 600`)
      assert.include(metrics, `altar_watch_checks_total{log="${bad.base}",result="unread"} 1`)
    })
  },
  { excludeTestServices: false },
)
