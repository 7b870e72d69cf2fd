/** A database role whose defaults change, as in a failover, or are of no use to the server. */
import { patience } from "../lab/Patience.ts"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { buyAt, prepareAt, send } from "../lab/buyer/Purchase.ts"
import { until } from "../lab/Eventually.ts"
import { ask, becomes, newCommitment, newPayer, post, realClock } from "../lab/Fixture.ts"
import { asOwner, newRole } from "../lab/Database.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { direct, serving } from "../lab/server/ServerProcess.ts"

/** A role that may do all that a server does, and the environment that uses it. */
const roleOf = Effect.fnUntraced(function* () {
  const all = ["SCHEMA public", "ALL TABLES IN SCHEMA public", "ALL SEQUENCES IN SCHEMA public"]
  const { role, url } = yield* newRole(...all.map((objects) => `ALL ON ${objects}`))
  return { role, env: { ...(yield* direct), DATABASE_URL: url } }
})

layer(stage, realClock)("a server whose database role", (it) => {
  it.effect("becomes read-only makes no offer, is not ready, and sells again by itself afterwards", function* () {
    const { env, role } = yield* roleOf()
    const server = yield* serving(env)
    yield* server.says("server listening")
    const { url } = server
    const payer = yield* newPayer()
    const buy = Effect.suspend(() => Effect.flatMap(prepareAt(url, { payer }), send))
    assert.strictEqual((yield* buy).status, 201)

    yield* asOwner(
      `ALTER ROLE ${role} SET default_transaction_read_only = on`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
    )
    const probe = (init: RequestInit) => ask(`${url}/api/witness`, init)
    yield* probe({ method: "POST" }).pipe(until("an offer is still made", ({ status }) => status === 503))
    for (const init of [{ method: "POST" }, post({ commitment: newCommitment() })])
      assertAnswer(yield* probe(init), 503, "unavailable")
    const room = yield* ask(`${url}/api/rooms`, post({}))
    assert.strictEqual(room.status, 503, room.text)
    for (const path of ["/readyz", "/api/health"]) {
      const answer = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([answer.status, answer.json["database"]], [503, "failing"], answer.text)
    }
    assert.strictEqual((yield* ask(`${url}/api/spirits`)).status, 200, "reads go on")
    yield* becomes(`${url}/readyz?for=reads`, 200)

    yield* asOwner(`ALTER ROLE ${role} RESET default_transaction_read_only`)
    const since = Date.now()
    yield* ask(`${url}/api/rooms`, post({})).pipe(until("no room is ever opened", ({ status }) => status === 201))
    const sold = yield* buy.pipe(until("nothing is ever sold", ({ status }) => status === 201))
    assert.isBelow(Date.now() - since, patience(30), sold.text)
    for (const path of ["/readyz", "/api/health"]) yield* becomes(`${url}${path}`, 200)
  })

  const defaults = [
    ["search_path", "''", /search_path of the role \w+ names no schema.* ALTER ROLE \w+ RESET search_path/u],
    ["default_transaction_isolation", "serializable", /are serializable, .* RESET default_transaction_isolation/u],
  ] as const
  it.effect.each(defaults)(
    "has a wrong %s is refused at start and by --check, with the remedy",
    function* ([name, value, says]) {
      const { env, role } = yield* roleOf()
      yield* asOwner(`ALTER ROLE ${role} SET ${name} = ${value}`)
      const start = yield* commandRun(["serve"], env)
      assert.strictEqual(start.code, 1)
      assert.match(start.stderr, says)
      const checked = yield* commandRun(["serve", "--check"], env)
      assert.strictEqual(checked.code, 1)
      assert.match(checked.stderr, says)
    },
  )

  it.effect("writes dates and times in another style serves the same bytes", function* () {
    const { env, role } = yield* roleOf()
    yield* asOwner(
      `ALTER ROLE ${role} SET DateStyle = 'SQL, DMY'`,
      `ALTER ROLE ${role} SET TimeZone = 'Pacific/Kiritimati'`,
      `ALTER ROLE ${role} SET IntervalStyle = 'iso_8601'`,
    )
    const server = yield* serving(env)
    yield* server.says("server listening")
    const body = { agentName: "Wren", intentionCommitment: newCommitment() }
    const { answer } = yield* buyAt(server.url, { path: "/api/prayers/moss-hare", body })
    assert.include(answer.text, new Date().toISOString().slice(0, 10))
    assert.strictEqual((yield* ask(`${server.url}/api/acts`)).status, 200)
  })
})
