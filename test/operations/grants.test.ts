/** Each part that meets a missing privilege names it: a server that starts, one that serves, a command. */
import { randomBytes } from "node:crypto"
import { spawnSync } from "node:child_process"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { main } from "../lab/Process.ts"
import { database } from "../lab/Database.ts"
import { freePort } from "../lab/Ports.ts"
import { serving } from "../lab/server/ServerProcess.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

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

const run = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
  })

suite("a database role without a grant", database, (it) => {
  it("is reported with the missing grant at start, in the log of a request and by admin", function* () {
    const { theirs, url } = yield* poor
    const port = yield* freePort
    const start = run(["serve"], { DATABASE_URL: theirs, PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` })
    assert.strictEqual(start.status, 1)
    assert.include(start.stderr, `The database role ${role} lacks a privilege: permission denied for table`)
    assert.match(
      start.stderr,
      new RegExp(`GRANT SELECT, INSERT, UPDATE, DELETE ON effect_sql_migrations TO ${role}\\.`, "u"),
    )

    const admin = run(["admin", "pause", "--why", "test", "--json"], { DATABASE_URL: theirs })
    assert.strictEqual(admin.status, 1)
    assert.include(JSON.parse(admin.stdout).message, `GRANT SELECT, INSERT, UPDATE, DELETE ON payment_pause TO ${role}`)

    yield* asOwner(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    yield* asOwner(url, `REVOKE SELECT ON acts FROM ${role}`)
    const server = yield* serving({ DATABASE_URL: theirs })
    yield* server.says("server listening")
    assert.strictEqual((yield* ask(`${server.url}/api/acts`)).status, 500)
    yield* server.says(`GRANT SELECT, INSERT, UPDATE (log_sequence) ON acts TO ${role}`)
    for (const said of [start.stderr, admin.stdout, server.output()]) assert.notInclude(said, "hush")
  })
})
