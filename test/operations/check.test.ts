/** The obstacles to selling and starting, as `serve --check`, a start, a log and a command name them. */
import { randomBytes } from "node:crypto"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { main, run } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { database } from "../lab/Database.ts"
import { freePort } from "../lab/Ports.ts"
import { ask, realClock } from "../lab/Fixture.ts"
import { order } from "../lab/buyer/ThirdParty.ts"
import { direct, serving } from "../lab/server/ServerProcess.ts"

const checked = Effect.fnUntraced(function* (more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", ...(yield* direct), ...more }
  return yield* Effect.promise(() => run([main, "serve", "--check"], { env }).ended)
})

const fails = (says: RegExp) =>
  Effect.map(checked(), ({ code, stderr }) => {
    assert.strictEqual(code, 1)
    assert.match(stderr, says)
  })

describe.concurrent("serve --check", () => {
  it.live("fails for an absent node, a paused token and a blocked PAY_TO, and names the cause without a secret", () =>
    Effect.gen(function* () {
      const { payTo } = yield* LocalChain
      const { code, stderr, stdout } = yield* checked()
      assert.strictEqual(code, 0, stderr)
      for (const part of ["database", "chain", "token", "relayer"]) assert.match(stdout, new RegExp(`^${part} `, "mu"))
      const away = yield* checked({ RPC_URL: "http://127.0.0.1:1/hush" })
      assert.strictEqual(away.code, 1)
      assert.match(away.stderr, /^The node of RPC_URL cannot be used: eth_chainId /mu)
      assert.notInclude(away.stdout + away.stderr, "hush")
      yield* order(["pause"])
      yield* fails(/paused all transfers/u)
      yield* order(["unpause"])
      yield* order(["blacklist", payTo])
      yield* fails(/blocked PAY_TO/u)
    }).pipe(Effect.provide(stage)),
  )
})

const role = `poor_${randomBytes(4).toString("hex")}`

const asOwner = (url: Redacted.Redacted<string>, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(Sql.layer(url, 1)),
    Effect.orDie,
  )

/** The database as a role that may connect and nothing else. */
const poor = Effect.gen(function* () {
  const { url } = yield* LocalDatabase
  yield* Effect.acquireRelease(asOwner(url, `CREATE ROLE ${role} LOGIN PASSWORD 'hush'`), () =>
    Effect.andThen(asOwner(url, `DROP OWNED BY ${role}`), asOwner(url, `DROP ROLE ${role}`)),
  )
  const theirs = new URL(Redacted.value(url))
  theirs.username = role
  theirs.password = "hush"
  return { url, theirs: theirs.href }
})

const serve = (env: Record<string, string>) => {
  const { HOME = "", PATH = "" } = process.env
  return Effect.promise(() => run([main, "serve"], { env: { PATH, HOME, ...env } }).ended)
}

layer(database, realClock)("a database role without a grant", (it) => {
  it.effect("is told of at start, in the log of a request and by admin", () =>
    Effect.gen(function* () {
      const { theirs, url } = yield* poor
      const port = yield* freePort
      const start = yield* serve({ DATABASE_URL: theirs, PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` })
      assert.strictEqual(start.code, 1)
      assert.include(start.stderr, `The database role ${role} lacks a privilege: permission denied for table`)
      assert.match(start.stderr, /Use the owner's DATABASE_URL\.$/mu)

      const admin = yield* commandRun(["admin", "pause", "--why", "test", "--json"], { DATABASE_URL: theirs })
      assert.strictEqual(admin.code, 1)
      assert.match(JSON.parse(admin.stdout).message, /payment_pause\. Use the owner's DATABASE_URL\.$/u)

      yield* asOwner(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
      yield* asOwner(url, `REVOKE SELECT ON acts FROM ${role}`)
      const server = yield* serving({ DATABASE_URL: theirs })
      yield* server.says("server listening")
      assert.strictEqual((yield* ask(`${server.url}/api/acts`)).status, 500)
      yield* server.says(
        `permission denied for table acts. Use the owner's DATABASE_URL, or have the owner run the grants`,
      )
      for (const said of [start.stderr, admin.stdout, server.output()]) {
        assert.notInclude(said, "hush")
        assert.notInclude(said, "GRANT", "a server's role may be closed to a table on purpose")
      }
    }),
  )
})
