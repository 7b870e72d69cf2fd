/** The log through the whole server: each paid stone is proved, to programs and people. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted, Result } from "effect"
import { verifyProof } from "../../src/buyer/index.ts"
import { cosignerFrom } from "../../src/log/Signer.ts"
import { type Terminal } from "../lab/Terminal.ts"
import { golden } from "../lab/log/Vectors.ts"
import { flipTile, signer } from "../lab/log/LogFixture.ts"
import { freePort } from "../lab/Ports.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { type Answer, ask, newCommitment, newPayer, pay, post } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { covered, outside, place, signingIn } from "../lab/log/LogServer.ts"
import { assert, suite } from "../lab/Suites.ts"

const { vkey } = signer

const cosigned = (asking: Effect.Effect<Answer>) =>
  asking.pipe(until("the watcher never signs", ({ text }) => text.includes("— watcher ")))

const watching = Effect.fnUntraced(function* (at: Terminal) {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const args = ["witness-serve", "--name", "watcher", "--log", vkey, "--data", "watcher", "--port", String(port)]
  const running = at.start(args)
  yield* Effect.promise(() => running.says(url))
  const { vkey: own } = Result.getOrThrow(
    cosignerFrom(Redacted.make(readFileSync(join(at.folder, "watcher", "key"), "utf8").trim())),
  )
  return { line: `witness watcher ${own} ${url}`, vkey: own }
})

const commands = Effect.fnUntraced(function* (at: Terminal, url: string) {
  const set = yield* at.run(["witness", "--text", "heron", "--proof", "stone.tlog-proof", "--json"])
  assert.strictEqual(set.code, 0, set.stderr)
  writeFileSync(join(at.folder, "bought.json"), set.stdout)
  const { record } = JSON.parse(set.stdout)
  const check = (stone: string, key: string = vkey, ...more: ReadonlyArray<string>) =>
    at.run(["verify-proof", "stone.tlog-proof", "--stone", stone, "--vkey", key, ...more])
  const held = yield* check("bought.json")
  assert.strictEqual(held.code, 0, held.stderr)
  assert.match(held.stdout, /^proved: previousHash, sequence, commitment, witnessedAt, transaction, chainHash$/mu)
  assert.match(held.stdout, /^NOT proved, whatever the file says: .*\bkind, spirit\b.*\bpayer\b/mu)
  const proof = yield* cosigned(ask(`${url}/api/witness/${record.id}/proof`))
  writeFileSync(join(at.folder, "cosigned.tlog-proof"), proof.text)
  const watched = yield* at.run(["verify-proof", "cosigned.tlog-proof", "--stone", "bought.json", "--policy", "policy"])
  assert.strictEqual(watched.code, 0, watched.stderr)
  assert.include(watched.stdout, "Cosigned by watcher")
  const { vkey: nobody } = Result.getOrThrow(
    cosignerFrom(
      Redacted.make("PRIVATE+KEY+webtessera.fixture.witness+18f977d3+AWJLz5U03Pi3k4VdC8bTygn0Fp9s0JwfaD4tvnYM4ClS"),
    ),
  )
  writeFileSync(join(at.folder, "strict"), `log ${vkey}\nwitness nobody ${nobody}\nquorum nobody`)
  const unsigned = yield* check("bought.json", vkey, "--policy", "strict")
  assert.deepStrictEqual([unsigned.code, unsigned.stdout], [1, ""])
  assert.match(unsigned.stderr, /^NOT PROVED \(cosignatures\): 0 of the 1 log witnesses/u)
  assert.include(held.stdout, `Stone ${record.sequence} is in the log ${golden.name}`)

  const stone = yield* ask(`${url}/api/witness/${record.id}`)
  writeFileSync(join(at.folder, "stone.json"), stone.text)
  assert.strictEqual((yield* check("stone.json")).code, 0)
  const answer = JSON.parse(stone.text)
  for (const [file, forged] of [
    ["payer.json", { ...answer, stone: { ...answer.stone, payer: `0x${"1".repeat(40)}` } }],
    ["two.json", { ...answer.stone, stone: answer.stone }],
  ] as const) {
    writeFileSync(join(at.folder, file), JSON.stringify(forged))
    assert.strictEqual((yield* check(file)).code, 1, file)
  }
  const lie = JSON.stringify({ ...record, commitment: "ab".repeat(32) })
  writeFileSync(join(at.folder, "lie.json"), lie)
  const refused = yield* check("lie.json")
  assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
  assert.match(refused.stderr, /^NOT PROVED \(stone\): /u)
  assert.strictEqual(
    (yield* check("stone.json", "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")).code,
    1,
  )

  const walk = ["verify", "--log", "--vkey", vkey, "--seen", "seen.json", "--policy", "policy"]
  const first = yield* at.run(walk)
  assert.strictEqual(first.code, 0, first.stderr)
  const [, walked = ""] = /(\d+) entries of (\S+): every tile and the signed root derive/u.exec(first.stdout) ?? []
  assert.include(first.stdout, `${walked} entries of ${golden.name}: `)
  assert.strictEqual(Number(walked), record.sequence)
  assert.include((yield* at.run(walk)).stdout, `It continues the ${walked} entries of the last check`)
  assert.notInclude(first.stdout, "%")
  assert.match(first.stderr, /100 %  \d+ of \d+ entries hold/u)
  const json = yield* at.run([...walk, "--json"])
  assert.deepInclude(JSON.parse(json.stdout).log, {
    origin: golden.name,
    size: Number(walked),
    continues: Number(walked),
  })
  const strict = yield* at.run(["verify", "--log", "--vkey", vkey, "--policy", "strict", "--json"])
  assert.deepInclude(JSON.parse(strict.stdout), { ok: false, code: "broken" })
  return record.sequence
})

suite("a server with a log", place, (it) => {
  it("proves every stone, and continues to sell when the log stops", function* () {
    const at = yield* outside
    const policyFile = join(at.folder, "policy")
    const env = yield* signingIn(at.folder)
    const server = yield* ServerProcess.make({ ...env, LOG_WITNESSES: policyFile })
    const { url } = server
    const buyer = yield* newPayer()
    const attempt = Effect.suspend(() => {
      const body = { commitment: newCommitment() }
      return Effect.map(pay(buyer, `${url}/api/witness`, body), (paid) => ({ ...paid, body }))
    })
    const isSold = ({ status }: Answer) => status === 201 || status === 200
    const buy = Effect.flatMap(attempt, ({ answer, body, headers }) =>
      isSold(answer)
        ? Effect.succeed(answer)
        : ask(`${url}/api/witness`, post(body, headers)).pipe(until(`never sold after ${answer.text}`, isSold)),
    )
    const watcher = yield* watching(at)
    writeFileSync(policyFile, `log ${vkey}\n${watcher.line}\nquorum watcher`)
    yield* server.start
    const sold = JSON.parse((yield* buy).text).record
    const proof = yield* covered(url, sold.id)
    assert.deepStrictEqual([proof.status, proof.headers.get("content-type")], [200, "text/plain; charset=utf-8"])
    assert.include(proof.headers.get("content-disposition"), `stone-${sold.sequence}.tlog-proof`)
    const status = yield* cosigned(ask(`${url}/api/witness/log`))
    assert.deepInclude(status.json, { ok: true, origin: golden.name, vkey, url: `${url}/log/`, state: "running" })
    const checkpoint = yield* ask(`${url}/log/checkpoint`)
    assert.strictEqual(status.json["checkpoint"], checkpoint.text)
    // It stores its own signature; the other signers are public.
    assert.isTrue(checkpoint.text.startsWith(readFileSync(env.LOG_CHECKPOINT_FILE, "utf8")))
    assert.match(checkpoint.text, /\n— watcher \S+\n$/u)
    const shown = yield* ask(`${url}/v2/log`)
    assert.match(shown.text, /Of\s+1, 1 signed this one:\s+as many as this log asks for\./u)
    assert.include(shown.text, watcher.vkey)
    assert.include((yield* ask(`${url}/v2/`)).text, 'href="/v2/log"')
    for (const path of ["/llms.txt", "/for-agents", "/.well-known/agent.json", "/.well-known/mcp/server-card.json"])
      assert.include((yield* ask(`${url}${path}`)).text, vkey, path)
    assert.strictEqual(
      (yield* ask(`${url}/api/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1/proof`)).json["code"],
      "witness_not_found",
    )

    const here = { ...at, run: (args: ReadonlyArray<string>) => at.run(args, { ...env, SPIRIT_ALTAR_URL: url }) }
    yield* commands(here, url)
    const running = yield* here.run(["log", "status"])
    assert.strictEqual(running.code, 0, running.stderr)
    assert.match(running.stdout, /^state {7}running$/mu)

    yield* flipTile(0, 0)
    const last = yield* buy
    assert.isTrue(isSold(last), "stones sell while the log is stopped")
    const { id } = JSON.parse(last.text).record
    yield* ask(`${url}/api/witness/log`).pipe(until("it never stopped", ({ json }) => json["state"] === "stopped"))
    assert.strictEqual((yield* covered(url, id)).json["code"], "log_stopped")
    assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)
    const told = yield* here.run(["log", "status"])
    assert.strictEqual(told.code, 1)
    assert.match(told.stderr, /^The log is stopped: the tiles (?:above|of) [^]*Another program wrote to log_tiles/u)
    yield* flipTile(0, 0)
    assert.strictEqual((yield* here.run(["log", "resume"])).code, 0)
    const late = yield* covered(url, id).pipe(until("it never went on", ({ status: code }) => code === 200))
    const verdict = yield* Effect.promise(() => verifyProof(late.text, JSON.parse(last.text).record, { vkey }))
    assert.isTrue(verdict.ok)
  })
})
