/** A shop that is gone: another person's mirror, behind a plain file server, proves what was bought from it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../lab/Eventually.ts"
import { covered, outside, place, signingIn } from "../lab/log/LogServer.ts"
import { assert, suite } from "../lab/Suites.ts"
import { newCommitment, newPayer, pay } from "../lab/Fixture.ts"
import { serveFolder } from "../lab/log/FileServer.ts"
import { signer } from "../lab/log/LogFixture.ts"
import { golden } from "../lab/log/Vectors.ts"
import { freePort } from "../lab/Ports.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"

const { vkey } = signer

suite("an altar that closed", place, (it) => {
  it("leaves stones that a mirror proves by their ids, and a watch beside it judged it correctly", function* () {
    const at = yield* outside
    const server = yield* ServerProcess.make(yield* signingIn(at.folder))
    const { url } = server
    yield* server.start
    const buyer = yield* newPayer()
    const buy = Effect.gen(function* () {
      const { answer } = yield* pay(buyer, `${url}/api/witness`, { commitment: newCommitment() })
      const { id, sequence } = JSON.parse(answer.text).record
      assert.strictEqual((yield* covered(url, id)).status, 200)
      return { id, sequence }
    })
    const command = Effect.fnUntraced(function* (code: number, ...args: ReadonlyArray<string>) {
      const ended = yield* at.run(args)
      assert.strictEqual(ended.code, code, `${args.join(" ")}: ${ended.stdout}${ended.stderr}`)
      return ended.stdout + ended.stderr
    })
    yield* buy
    const bought = yield* buy
    const key = ["--vkey", vkey]
    yield* command(0, "log", "mirror", "copy", "--url", url, ...key)
    assert.include(yield* command(0, "log", "watch", url, ...key, "--data", "seen", "--once"), "nothing but growth")

    // A watch that runs on measures what it sees.
    const port = yield* freePort
    const running = at.start(["log", "watch", url, ...key, "--data", "on", "--every", "1", "--metrics-port", `${port}`])
    const sizeIs = (size: number) =>
      Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text())).pipe(
        Effect.orElseSucceed(() => ""),
        until("the watch never saw that size", (text) => text.includes(`altar_watch_size{log="${url}"} ${size}\n`)),
      )
    yield* sizeIs(2)
    const last = yield* buy
    yield* sizeIs(3)
    yield* Effect.promise(running.kill)
    assert.notInclude(running.output(), "ALARM")
    yield* command(0, "log", "mirror", "copy", "--url", url, ...key)
    // A caller that names the log's own URL needs no altar.
    assert.include(
      yield* command(0, "verify", "--log", "--url", `${url}/log`, ...key, "--seen", "any.json"),
      "3 entries of",
    )

    yield* server.kill
    yield* Effect.flatMap(SqlClient.SqlClient, (client) => client`DROP SCHEMA public CASCADE`)
    const mirror = yield* serveFolder(join(at.folder, "copy"))
    for (const { id, sequence } of [bought, last]) {
      yield* command(0, "log", "prove", id, "--mirror", mirror)
      const [proof, stone] = [`stone-${sequence}.tlog-proof`, `stone-${sequence}.json`]
      assert.strictEqual(JSON.parse(readFileSync(join(at.folder, stone), "utf8")).id, id)
      const says = yield* command(0, "verify-proof", proof, "--stone", stone, ...key)
      assert.include(says, `Stone ${sequence} is in the log ${golden.name}`)
      const lie = readFileSync(join(at.folder, stone), "utf8").replace(/"commitment": "../u, '"commitment": "zz')
      writeFileSync(join(at.folder, "lie.json"), lie)
      assert.match(yield* command(1, "verify-proof", proof, "--stone", "lie.json", ...key), /NOT PROVED/u)
    }
    assert.match(yield* command(1, "log", "watch", url, ...key, "--data", "seen", "--once"), /was not read/u)
    assert.match(yield* command(1, "verify-proof", "stone-2.tlog-proof", ...key), /one of --stone, --entry and --leaf/u)
  })
})
