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

const place = Layer.merge(sql.pipe(Layer.provideMerge(database)), chain)

suite("log join with a real server", Layer.orDie(place), (it) => {
  it("checks it, and writes the policy by which it is signed for and its proofs are verified", function* () {
    const at = yield* Effect.provideService(terminal, TestServer, { url: "" })
    const policy = join(at.folder, "policy")
    const log = { LOG_KEY: golden.signerKey, LOG_ORIGIN: golden.name, LOG_PUBLISH_SECONDS: "1" }
    const env = { ...(yield* direct), ...log, LOG_CHECKPOINT_FILE: join(at.folder, "checkpoint") }
    const server = yield* ServerProcess.make(env)
    yield* server.start
    const buyer = yield* newPayer()
    const proof = Effect.fnUntraced(function* (url: string, isEnough: (text: string) => boolean) {
      const { answer } = yield* pay(buyer, `${url}/api/witness`, { commitment: newCommitment() })
      const { record } = JSON.parse(answer.text)
      writeFileSync(join(at.folder, "stone.json"), JSON.stringify(record))
      const { text } = yield* ask(`${url}/api/witness/${record.id}/proof`).pipe(
        Effect.repeat({ until: (one) => isEnough(one.text), schedule: Schedule.spaced("100 millis") }),
        Effect.timeoutOrElse({ duration: patience(20), orElse: () => Effect.die("it is never signed") }),
      )
      writeFileSync(join(at.folder, "stone.tlog-proof"), text)
    })
    yield* proof(server.url, (text) => text.startsWith("c2sp.org/tlog-proof@v1"))

    const acts = String((yield* ask(`${server.url}/api/acts/log`)).json["vkey"])
    for (const name of ["a", "b"]) {
      const running = at.start(
        [
          "witness-serve",
          "--name",
          name,
          "--log",
          vkey,
          "--log",
          acts,
          "--data",
          name,
          "--port",
          String(yield* freePort),
        ].concat(name === "b" ? "--post-quantum" : []),
      )
      const line = /^witness .*$/mu.exec(yield* Effect.promise(() => running.says(`witness ${name} `)))?.[0] ?? ""
      writeFileSync(join(at.folder, "witnesses"), `${line}\n`, { flag: "a" })
    }
    const args = ["log", "join", "--url", server.url, "--contact", "ops@altar.example", "--witnesses", "witnesses"]
    const unnamed = yield* at.run([
      "log",
      "join",
      "--url",
      server.url,
      "--contact",
      "ops@altar.example",
      "--vkey",
      vkey,
    ])
    assert.match(unnamed.stdout, /^acts\/checkpoint +warning +.* is served, too: name its key with --acts-vkey/mu)
    const half = yield* ownWitness("half.example/w")
    const unknown = yield* at.run([...args, "--witness", `${half.vkey},${half.url}`, "--policy", policy], log)
    assert.include(unknown.stderr, "2 of 3 witnesses signed both logs, and 3 must. No policy was written.")
    assert.match(unknown.stdout, /^half.example-w +ok .*\n(?:.*\n)*acts\/half.example-w +failed +it answered 404$/mu)
    const ended = yield* at.run([...args, "--policy", policy], log)
    assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
    assert.match(ended.stdout, /^b +ok +it signed the checkpoint of \d+ entries when asked$/mu)
    assert.match(ended.stdout, /^acts\/checkpoint +ok .*\n(?:.*\n)*acts\/b +ok +it signed the checkpoint of /mu)
    assert.deepStrictEqual(readFileSync(policy, "utf8").match(/^log .*$/gmu), [
      `log ${vkey} ${server.url}/log`,
      `log ${acts} ${server.url}/log/acts`,
    ])

    yield* server.kill
    const signed = yield* ServerProcess.make({ ...env, LOG_WITNESSES: policy })
    yield* signed.start
    yield* proof(signed.url, (text) => text.includes("— a ") && text.includes("— b "))
    const held = yield* at.run(["verify-proof", "stone.tlog-proof", "--stone", "stone.json", "--policy", policy])
    assert.strictEqual(held.code, 0, held.stderr)
    assert.include(held.stdout, "Cosigned by a, b: the quorum of the policy.")
    writeFileSync(join(at.folder, "moved"), readFileSync(policy, "utf8").replaceAll(server.url, signed.url))
    const walk = ["verify", "--log", "--url", `${signed.url}/log/acts`, "--policy", "moved"]
    const overActs = yield* at.run(walk).pipe(until("the quorum of the acts' log", ({ code }) => code === 0))
    assert.include(overActs.stdout, "Cosigned by a, b: the quorum of the policy.")
    // The policy serves for both logs, which the other commands read in the same way.
    const command = Effect.fnUntraced(function* (...line: ReadonlyArray<string>) {
      const { code, stderr, stdout } = yield* at.run(line)
      assert.strictEqual(code, 0, `${line.join(" ")}: ${stdout}${stderr}`)
      return stdout
    })
    const watched = yield* command("log", "watch", "--policy", "moved", "--data", "seen", "--once")
    assert.include(watched, "/log/acts: nothing but growth.")
    yield* command("log", "mirror", "copy", "--url", `${signed.url}/log/acts`, "--policy", "moved")
    yield* command("log", "prove", "1", "--mirror", "copy")
    const file = ["entry-1.tlog-proof", "--entry", "entry-1.entry"]
    assert.include(yield* command("verify-proof", ...file, "--policy", policy), `in the log ${golden.name}/acts,`)
  })
})
