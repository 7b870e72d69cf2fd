/** The policy of `log join`: of the witnesses that sign both logs, and read by every other command. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer, Option, Schedule } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseNote } from "../../schema/log/Note.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { ofActs } from "../../src/log/Log.ts"
import { chain } from "../lab/Chain.ts"
import { until } from "../lab/Eventually.ts"
import { database, sql } from "../lab/Database.ts"
import { newFolder } from "../lab/Folders.ts"
import { ask, newCommitment, newPayer, pay, TestServer } from "../lab/Fixture.ts"
import { joined } from "../lab/log/Joined.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { golden } from "../lab/log/Vectors.ts"
import { cosignerOf, ownWitness, strangeWitness } from "../lab/log/Witnesses.ts"
import { patience } from "../lab/Patience.ts"
import { freePort } from "../lab/Ports.ts"
import { direct } from "../lab/server/Environment.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { assert, suite } from "../lab/Suites.ts"
import { terminal } from "../lab/Terminal.ts"

const { vkey } = signer

const all = StaticLog.entriesOf(600)

const newFile = (name: string) => join(newFolder(), name)

suite("the policy of log join", Layer.empty, (it) => {
  it("writes a policy of the witnesses that sign, without those that are down or sign with another key", function* () {
    const log = yield* StaticLog.serve(all)
    const [one, two] = [yield* ownWitness("one.example/w"), yield* ownWitness("two.example/w")]
    const down = yield* ownWitness("down.example/w")
    yield* down.stop
    const false_ = yield* strangeWitness("false.example/w", (body, response) => {
      const text = body.slice(body.indexOf("\n\n") + 2)
      const line = cosignerOf("false.example/w").line(`${text.split("\n\n")[0]}\n`, 1_700_000_000) ?? ""
      response.writeHead(200).end(line)
    })
    const silent = cosignerOf("silent.example/w")
    log.cosignatures = (note) => {
      const parsed = parseNote(note)
      return parsed instanceof Malformed ? "" : (silent.line(parsed.text, 1_700_000_000) ?? "")
    }
    const [file, listed] = [newFile("policy"), newFile("witnesses")]
    writeFileSync(listed, `# Ours\nwitness one ${one.vkey} ${one.url}\n\nwitness silent ${silent.vkey}\n`)
    const named = [two, down, false_].flatMap(({ url, vkey: key }) => ["--witness", `${key},${url}`])
    const given = ["--witnesses", listed, ...named, "--policy", file]

    const strict = yield* joined(log.base, ...given)
    assert.strictEqual(strict.code, 1)
    assert.include(strict.stderr, "3 of 5 witnesses signed, and 5 must. No policy was written.")
    assert.isFalse(existsSync(file))
    const { code, says, states, stderr } = yield* joined(log.base, ...given, "--quorum", "2")
    assert.strictEqual(code, 0, stderr)
    assert.deepInclude(states, {
      one: "ok",
      silent: "ok",
      "two.example-w": "ok",
      "down.example-w": "warning",
      "false.example-w": "warning",
    })
    assert.match(says["false.example-w"] ?? "", /^left out of the policy: .* without a signature that holds under/u)
    assert.match(says["silent"] ?? "", /signature is under the served checkpoint of 600 entries/u)
    assert.deepStrictEqual(readFileSync(file, "utf8").split("\n").slice(1), [
      `log ${vkey} ${log.base}/log`,
      `witness one ${one.vkey} ${one.url}`,
      `witness silent ${silent.vkey}`,
      `witness two.example-w ${two.vkey} ${two.url}`,
      "group enough 2 one silent two.example-w",
      "quorum enough",
      "",
    ])
    const policy = parsePolicy(readFileSync(file, "utf8"))
    if (policy instanceof Malformed) return assert.fail(policy.message)
    assert.deepStrictEqual(
      [policy.isMet(new Set([one.vkey])), policy.isMet(new Set([one.vkey, two.vkey]))],
      [false, true],
    )

    // Its own file keeps its witnesses and quorum; by now they have signed this size, and are asked again all the same.
    log.cosignatures = () => ""
    const again = yield* joined(log.base, "--policy", file)
    assert.strictEqual(again.code, 0, again.stderr)
    assert.match(again.says["silent"] ?? "", /^kept in the policy: its signature is not under/u)
    const kept = readFileSync(file, "utf8")
    assert.match(kept, /\n# silent did not sign on \d{4}-\d\d-\d\d\.\nwitness silent /u)
    assert.include(kept, "group enough 2 one silent two.example-w\n")
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
    const fewer = yield* joined(log.base, "--witness", `${one.vkey},${one.url}`, "--policy", file, "--replace")
    assert.strictEqual(fewer.code, 0, fewer.stderr)
    assert.include(readFileSync(file, "utf8"), "group enough 1 one.example-w\n")
  })

  it("counts no witness whose served signature is wrong", function* () {
    const log = yield* StaticLog.serve(all)
    const witness = yield* ownWitness("one.example/w")
    log.cosignatures = () => witness.cosigner.line("another checkpoint\n", 1_700_000_000) ?? ""
    const file = newFile("policy")
    const { code, says } = yield* joined(log.base, "--witness", `${witness.vkey},${witness.url}`, "--policy", file)
    assert.deepStrictEqual([code, existsSync(file)], [1, false])
    assert.match(says["one.example-w"] ?? "", /that the log serves is wrong/u)
  })

  it("refuses flags that contradict each other and files of others before it asks anyone", function* () {
    const log = yield* StaticLog.serve(all)
    const witness = `${cosignerOf("one.example/w").vkey},http://127.0.0.1:1`
    const [foreign, folder] = [newFile("policy"), newFolder()]
    writeFileSync(foreign, `log ${vkey}\nquorum none\n`)
    const otherLog = newFile("policy")
    writeFileSync(
      otherLog,
      "# The policy of other.example/log, written by spirit-altar log join, which may replace it.\n",
    )
    const refused: ReadonlyArray<readonly [says: string, ...flags: Array<string>]> = [
      ["is there and not of this command", "--witness", witness, "--policy", foreign],
      ["is there and not of this command", "--witness", witness, "--policy", otherLog],
      ["is there and not of this command", "--witness", witness, "--policy", folder],
      ["needs --policy FILE", "--witness", witness],
      ["needs --policy FILE", "--policy", newFile("policy")],
      ["needs --policy FILE", "--witness", witness, "--policy", newFile("policy"), "--quorum", "2"],
      ["needs --policy FILE", "--witness", witness, "--policy", newFile("policy"), "--quorum", "0"],
      ["is not vkey,url", "--witness", "one.example", "--policy", newFile("policy")],
      ["is taken", "--witness", witness, "--witness", witness, "--policy", newFile("policy")],
      ["A line of witnesses is", "--witnesses", foreign, "--policy", newFile("policy")],
      ["--contact is one line", "--contact", "a\nvkey b"],
      ["--list is testing or staging", "--list", "production"],
      ["--seconds is from 1 to 3600", "--seconds", "0"],
      ["--vkey: ", "--vkey", "altar.example/log"],
    ]
    for (const [says, ...flags] of refused) {
      const { code, stderr, stdout } = yield* joined(log.base, ...flags)
      assert.deepStrictEqual([code, stdout], [1, ""], flags.join(" "))
      assert.include(stderr, says)
    }
    assert.strictEqual(readFileSync(foreign, "utf8"), `log ${vkey}\nquorum none\n`)
  })
})
