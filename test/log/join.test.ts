/** `log join`: the request to a witness network, checks of what strangers are served, and the policy of witnesses that sign. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Option, Result } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseNote } from "../../schema/log/Note.ts"
import { ofActs } from "../../src/log/Log.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { newFolder } from "../lab/Folders.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { golden } from "../lab/log/Vectors.ts"
import { cosignerOf, ownWitness, strangeWitness } from "../lab/log/Witnesses.ts"
import { assert, suite } from "../lab/Suites.ts"
import { withoutPausesOf } from "../lab/Clock.ts"

const { vkey } = signer

const all = StaticLog.entriesOf(600)

/**
 * Runs the command on a log with the key in the environment, and reads its report: state and message of each check. The
 * rate is measured without its pauses between two reads.
 */
const joined = Effect.fnUntraced(function* (url: string, ...more: ReadonlyArray<string>) {
  const env = { LOG_KEY: golden.signerKey, PUBLIC_URL: url, OPERATOR_CONTACT: "ops@altar.example" }
  const ended = yield* commandRun(["log", "join", ...more], { ...env, LOG_PUBLISH_SECONDS: "1" }).pipe(
    withoutPausesOf("250 millis"),
  )
  const lines = [...ended.stdout.matchAll(/^(\S+) +(ok|failed|skipped|warning) +(.*)$/gmu)]
  return {
    ...ended,
    states: Object.fromEntries(lines.map(([, check = "", state = ""]) => [check, state])),
    says: Object.fromEntries(lines.map(([, check = "", , message = ""]) => [check, message])),
  }
})

const checks = ["checkpoint", "signature", "tiles", "entries", "rate"]

/** The report in which one check failed, or none: of a log without one over all acts, at an address that is not public. */
const reportOf = (failed = "") => ({
  ...Object.fromEntries(
    checks.map((name, at) => {
      const rest = checks.includes(failed) ? at - checks.indexOf(failed) : -1
      return [name, rest < 0 ? "ok" : rest === 0 ? "failed" : "skipped"]
    }),
  ),
  "acts/checkpoint": "warning",
  address: "warning",
})

/** The same root over tiles of which one was changed. */
const changeTile = (log: StaticLog.Log, key: string) => {
  const { log: real } = log
  const tiles = new Map(real.tiles).set(key, new Uint8Array(256 * 32))
  log.log = Object.assign(new MemoryLog(), { tiles, rootAt: (size: number) => real.rootAt(size) })
}

/** Serves the files below a path with these headers. */
const serveAs = (log: StaticLog.Log, path: string, headers: Readonly<Record<string, string>>) => {
  const usual = log.headers
  log.headers = (one) => (one.startsWith(path) ? headers : usual(one))
}

const html = { "content-type": "text/html" }
const forAnHour = { "content-type": "text/plain; charset=UTF-8", "cache-control": "max-age=3600" }
const rewritten = StaticLog.entriesOf(600, 600)

const faults: ReadonlyArray<
  readonly [what: string, check: string, message: RegExp, spoil: (log: StaticLog.Log) => unknown]
> = [
  ["no server", "checkpoint", /could not be read: it was answered 404/u, (log) => (log.isAway = true)],
  ["a page", "checkpoint", /text\/html, not text\/plain/u, (log) => serveAs(log, "/log/checkpoint", html)],
  ["a cache", "checkpoint", /kept for 3600 seconds/u, (log) => serveAs(log, "/log/checkpoint", forAnHour)],
  ["no entry", "signature", /covers nothing yet/u, (log) => (log.size = 0)],
  ["a changed tile", "tiles", /do not have the signed root/u, (log) => changeTile(log, "1/0")],
  ["tiles as text", "tiles", /tile\/1\/000\.p\/2 has the content type/u, (log) => serveAs(log, "/log/tile/1", html)],
  ["a missing bundle", "entries", /002\.p\/88 could not be read/u, (log) => (log.refuse = (at) => at === 2)],
  ["entries of another tile", "entries", /entries from 1 on are not/u, (log) => changeTile(log, "0/0")],
  ["changed entries", "entries", /entries from 513 on are not/u, (log) => (log.entries = rewritten)],
]

const newFile = (name: string) => join(newFolder(), name)

suite("log join", Layer.empty, (it) => {
  it("prints the request with all that a network asks for, and passes a log that is served well", function* () {
    const log = yield* StaticLog.serve(all)
    const { code, states, stdout } = yield* joined(log.base, "--list", "staging")
    assert.deepStrictEqual([code, states], [0, reportOf()], stdout)
    for (const line of [
      `Origin:     ${golden.name}`,
      `Key:        ${vkey}`,
      "Rate:       at most one checkpoint every 1 s and one retry of each, 172800 requests a day",
      "List:       staging",
      "Contact:    ops@altar.example",
      `Checkpoint: ${log.base}/log/checkpoint`,
    ])
      assert.include(stdout.split("\n"), line)
    assert.include(stdout, `\nvkey ${vkey}\nqpd 172800\ncontact ops@altar.example\n`)
    assert.notInclude(stdout, golden.signerKey)
  })

  it.each(faults)("fails for %s", function* ([, check, message, spoil]) {
    const log = yield* StaticLog.serve(all)
    spoil(log)
    const { code, says, states, stderr } = yield* joined(log.base)
    assert.deepStrictEqual([code, states], [1, reportOf(check)], stderr)
    assert.match(says[check] ?? "", message)
  })

  it("fails for another key", function* () {
    const log = yield* StaticLog.serve(all)
    const other = Result.getOrThrow(Result.flatMap(generate(golden.name), fromText)).vkey
    const { code, says } = yield* joined(log.base, "--vkey", other)
    assert.strictEqual(code, 1)
    assert.match(says["signature"] ?? "", /not signed with the key/u)
  })

  it.each([
    [1, /^\d+ new checkpoints in \d+ seconds, and one every 1 seconds is stated$/u],
    [-1, /the checkpoint shrank/u],
  ] as const)("fails for a log that grows by %i more often than stated", function* ([by, message]) {
    const log = yield* StaticLog.serve(all)
    log.size = 300
    // It has another size at each read.
    log.cosignatures = () => {
      log.size += by
      return ""
    }
    const { code, says, states } = yield* joined(log.base)
    assert.deepStrictEqual([code, states], [1, reportOf("rate")])
    assert.match(says["rate"] ?? "", message)
  })

  it("writes a policy of the witnesses that sign, without those that are down or sign with another key", function* () {
    const log = yield* StaticLog.serve(all)
    const [one, two] = [yield* ownWitness("one.example/w"), yield* ownWitness("two.example/w")]
    const down = yield* ownWitness("down.example/w")
    yield* down.stop
    const strange = yield* strangeWitness("false.example/w", (body, response) => {
      const text = body.slice(body.indexOf("\n\n") + 2)
      response.end(cosignerOf("false.example/w").line(`${text.split("\n\n")[0]}\n`, 1_700_000_000))
    })
    const silent = cosignerOf("silent.example/w")
    log.cosignatures = (note) => {
      const parsed = parseNote(note)
      return parsed instanceof Malformed ? "" : (silent.line(parsed.text, 1_700_000_000) ?? "")
    }
    const [file, listed] = [newFile("policy"), newFile("witnesses")]
    writeFileSync(listed, `# Ours\nwitness one ${one.vkey} ${one.url}\n\nwitness silent ${silent.vkey}\n`)
    const named = [two, down, strange].flatMap((each) => ["--witness", `${each.vkey},${each.url}`])
    const given = ["--witnesses", listed, ...named, "--policy", file]

    const strict = yield* joined(log.base, ...given)
    assert.include(strict.stderr, "3 of 5 witnesses signed, and 5 must. No policy was written.")
    assert.deepStrictEqual([strict.code, existsSync(file)], [1, false])
    const { code, says, states, stderr } = yield* joined(log.base, ...given, "--quorum", "2")
    assert.strictEqual(code, 0, stderr)
    const signed = { one: "ok", silent: "ok", "two.example-w": "ok" }
    assert.deepInclude(states, { ...signed, "down.example-w": "warning", "false.example-w": "warning" })
    assert.match(says["false.example-w"] ?? "", /^left out of the policy: .* without a signature that holds under/u)
    assert.deepStrictEqual(readFileSync(file, "utf8").split("\n").slice(1), [
      `log ${vkey} ${log.base}/log`,
      `witness one ${one.vkey} ${one.url}`,
      `witness silent ${silent.vkey}`,
      `witness two.example-w ${two.vkey} ${two.url}`,
      "group enough 2 one silent two.example-w",
      "quorum enough",
      "",
    ])

    // Its own file keeps its witnesses and quorum; by now they have signed this size, and are asked again all the same.
    log.cosignatures = () => ""
    const again = yield* joined(log.base, "--policy", file)
    assert.strictEqual(again.code, 0, again.stderr)
    assert.match(again.says["silent"] ?? "", /^kept in the policy: its signature is not under/u)
    const kept = readFileSync(file, "utf8")
    assert.match(
      kept,
      /\n# silent did not sign on \d{4}-\d\d-\d\d\.\nwitness silent [^]*\ngroup enough 2 one silent two/u,
    )
    // A policy that names the log over all acts loses it by no outage.
    const acts = ofActs({ ...signing, checkpointFile: Option.none() }).signer.vkey
    writeFileSync(file, kept.replace("\nwitness", `\nlog ${acts} ${log.base}/log/acts\nwitness`))
    const outage = yield* joined(log.base, "--policy", file)
    assert.deepInclude(outage.states, { rate: "ok", "acts/checkpoint": "failed" })
    assert.include(readFileSync(file, "utf8"), `log ${acts} `)
    writeFileSync(file, kept)
    yield* two.stop
    const tooFew = yield* joined(log.base, "--policy", file)
    assert.deepStrictEqual([tooFew.code, readFileSync(file, "utf8")], [1, kept])
    // A served signature that is wrong counts for no witness.
    const alone = ["--witness", `${one.vkey},${one.url}`, "--policy", file, "--replace"]
    log.cosignatures = () => one.cosigner.line("another checkpoint\n", 1_700_000_000) ?? ""
    const wrong = yield* joined(log.base, ...alone)
    assert.deepStrictEqual([wrong.code, readFileSync(file, "utf8")], [1, kept])
    assert.match(wrong.says["one.example-w"] ?? "", /that the log serves is wrong/u)
    log.cosignatures = () => ""
    const fewer = yield* joined(log.base, ...alone)
    assert.strictEqual(fewer.code, 0, fewer.stderr)
    assert.include(readFileSync(file, "utf8"), "group enough 1 one.example-w\n")
  })

  it("refuses flags that contradict each other and files of others before it asks anyone", function* () {
    const { base } = yield* StaticLog.serve(all)
    const witness = ["--witness", `${cosignerOf("one.example/w").vkey},http://127.0.0.1:1`]
    const [foreign, otherLog] = [newFile("policy"), newFile("policy")]
    writeFileSync(foreign, `log ${vkey}\nquorum none\n`)
    writeFileSync(
      otherLog,
      "# The policy of other.example/log, written by spirit-altar log join, which may replace it.\n",
    )
    for (const [says = "", ...flags] of [
      ...[foreign, otherLog, newFolder()].map((file) => ["is there and not of this", ...witness, "--policy", file]),
      ["needs --policy FILE", ...witness],
      ["needs --policy FILE", "--policy", newFile("policy")],
      ["needs --policy FILE", ...witness, "--policy", newFile("policy"), "--quorum", "2"],
      ["is not vkey,url", "--witness", "one.example", "--policy", newFile("policy")],
      ["is taken", ...witness, ...witness, "--policy", newFile("policy")],
      ["A line of witnesses is", "--witnesses", foreign, "--policy", newFile("policy")],
      ["--contact is one line", "--contact", "a\nvkey b"],
    ]) {
      const { code, stderr, stdout } = yield* joined(base, ...flags)
      assert.deepStrictEqual([code, stdout], [1, ""], flags.join(" "))
      assert.include(stderr, says)
    }
    assert.strictEqual(readFileSync(foreign, "utf8"), `log ${vkey}\nquorum none\n`)
  })
})
