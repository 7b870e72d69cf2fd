/** `log join`: the request to a witness network, and checks of what strangers are served. */
import { Effect, Layer, Result, Schedule } from "effect"
import { fromText, generate } from "../../src/log/Signer.ts"
import { joined } from "../lab/log/Joined.ts"
import { signer } from "../lab/log/LogFixture.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { golden } from "../lab/log/Vectors.ts"
import { assert, suite } from "../lab/Suites.ts"

const { vkey } = signer

const all = StaticLog.entriesOf(600)

type Log = Effect.Success<ReturnType<typeof StaticLog.serve>>

const checks = ["checkpoint", "signature", "tiles", "entries", "rate"]

/** A log without a log over all acts beside it, at an address that is not public. */
const warnings = { "acts/checkpoint": "warning", address: "warning" }

/** The report in which one check failed. */
const failedAt = (check: string) => ({
  ...Object.fromEntries(
    checks.map((name, at) => {
      const rest = at - checks.indexOf(check)
      return [name, rest < 0 ? "ok" : rest === 0 ? "failed" : "skipped"]
    }),
  ),
  ...warnings,
})

/** The named key is not that of the environment, so no key of the log over all acts is known. */
const withoutActs = ({ "acts/checkpoint": _, ...states }: Record<string, string>) => states

const html = { "content-type": "text/html" }

/** The same root over tiles of which one was changed. */
const changeTile = (log: Log, key: string) => {
  const { log: real } = log
  const tiles = new Map(real.tiles).set(key, new Uint8Array(256 * 32))
  log.log = Object.assign(new MemoryLog(), { tiles, rootAt: (size: number) => real.rootAt(size) })
}

const resize = (log: Log, by: number) =>
  Effect.forkScoped(
    Effect.repeat(
      Effect.sync(() => (log.size += by)),
      Schedule.spaced("100 millis"),
    ),
  )

const otherKey = Result.getOrThrow(Result.flatMap(generate(golden.name), fromText)).vkey

const faults: ReadonlyArray<readonly [what: string, check: string, message: RegExp, spoil: (log: Log) => unknown]> = [
  ["no server", "checkpoint", /could not be read: it was answered 404/u, (log) => (log.isAway = true)],
  [
    "a page at its path",
    "checkpoint",
    /content type text\/html, not text\/plain/u,
    (log) => (log.headers = () => html),
  ],
  [
    "a cache that keeps checkpoints",
    "checkpoint",
    /kept for 3600 seconds/u,
    (log) => (log.headers = () => ({ "content-type": "text/plain; charset=UTF-8", "cache-control": "max-age=3600" })),
  ],
  ["another key", "signature", /not signed with the key/u, () => undefined],
  ["no entry", "signature", /covers nothing yet/u, (log) => (log.size = 0)],
  ["a changed tile", "tiles", /do not have the signed root/u, (log) => changeTile(log, "1/0")],
  [
    "tiles as text",
    "tiles",
    /tile\/1\/000\.p\/2 has the content type text\/html/u,
    (log) => {
      const usual = log.headers
      log.headers = (path) => (path.startsWith("/log/tile/1") ? html : usual(path))
    },
  ],
  [
    "a missing bundle",
    "entries",
    /tile\/entries\/002\.p\/88 could not be read/u,
    (log) => (log.refuse = (at) => at === 2),
  ],
  ["entries of another tile", "entries", /entries from 1 on are not/u, (log) => changeTile(log, "0/0")],
  [
    "changed entries",
    "entries",
    /entries from 513 on are not/u,
    (log) => (log.entries = StaticLog.entriesOf(600, (sequence) => (sequence > 599 ? "rewritten" : ""))),
  ],
]

suite("log join", Layer.empty, (it) => {
  it("prints the request with all that a network asks for, and passes a log that is served well", function* () {
    const log = yield* StaticLog.serve(all)
    const { code, states, stdout } = yield* joined(log.base, "--list", "staging")
    assert.strictEqual(code, 0, stdout)
    assert.deepStrictEqual(states, {
      ...Object.fromEntries(checks.map((check) => [check, "ok"])),
      ...warnings,
    })
    for (const line of [
      "To: participate@lists.witness-network.org",
      `Origin:     ${golden.name}`,
      `Key:        ${vkey}`,
      "Rate:       at most one checkpoint every 1 s and one retry of each, 172800 requests a day",
      "List:       staging",
      "Contact:    ops@altar.example",
      `Checkpoint: ${log.base}/log/checkpoint`,
    ]) {
      assert.include(stdout.split("\n"), line)
    }
    assert.include(stdout, `\nvkey ${vkey}\nqpd 172800\ncontact ops@altar.example\n`)
    assert.notInclude(stdout, golden.signerKey)
  })

  for (const [what, check, message, spoil] of faults) {
    it(`fails at ${check} for ${what}`, function* () {
      const log = yield* StaticLog.serve(all)
      spoil(log)
      const isOther = what === "another key"
      const { code, says, states, stderr } = yield* joined(log.base, ...(isOther ? ["--vkey", otherKey] : []))
      assert.deepStrictEqual([code, states], [1, isOther ? withoutActs(failedAt(check)) : failedAt(check)], stderr)
      assert.match(says[check] ?? "", message)
    })
  }

  it("fails at rate for a log that signs more often than stated, or shrinks", function* () {
    const [often, shrinking] = [yield* StaticLog.serve(all), yield* StaticLog.serve(all)]
    often.size = 100
    yield* resize(often, 1)
    yield* resize(shrinking, -1)
    const [one, two] = yield* Effect.all([joined(often.base), joined(shrinking.base)], { concurrency: 2 })
    assert.deepStrictEqual([one.code, one.states], [1, failedAt("rate")])
    assert.match(one.says["rate"] ?? "", /^\d+ new checkpoints in \d+ seconds, and one every 1 seconds is stated$/u)
    assert.deepStrictEqual([two.code, two.states], [1, failedAt("rate")])
    assert.match(two.says["rate"] ?? "", /the checkpoint shrank/u)
  })
})
