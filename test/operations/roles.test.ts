/** The roles of the operator's guide, made by its own lines: one of them serves every act and can rewrite none. */
import { createHash, randomBytes } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Sql from "../../src/platform/Sql.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sandbox from "../../src/sandbox/Sandbox.ts"
import { buyAt } from "../lab/buyer/Purchase.ts"
import { follow, programOf } from "../lab/DocumentAgent.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { chain } from "../lab/Chain.ts"
import { database } from "../lab/Database.ts"
import { until } from "../lab/Eventually.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { exampleOf } from "../lab/Sources.ts"
import { serverWith, ask, newCommitment, newPayer, post, realClock } from "../lab/Fixture.ts"

const suffix = randomBytes(4).toString("hex")

/** Roles belong to the whole cluster: those of a test have names of their own. */
const own = (text: string) => text.replace(/\baltar(_owner|_reader)?\b/gu, (name) => `${name}_${suffix}`)

/** The statements of the guide's example that begins so. */
const statementsOf = (begins: string) =>
  own(exampleOf("docs/operating.md", begins))
    .split(/;$/mu)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")

const urlOf = (role: string, password: string) => {
  const url = new URL(inject("databaseUrl"))
  url.username = own(role)
  url.password = password
  url.pathname = `/${own("altar")}`
  return Redacted.make(url.href)
}

const owner = urlOf("altar_owner", "first")
const altar = urlOf("altar", "second")
const reader = urlOf("altar_reader", "third")

const run = (url: Redacted.Redacted<string>, statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement))).pipe(
    Effect.provide(Sql.layer(url, 1)),
  )

const admin = Redacted.make(inject("databaseUrl"))

const made = Effect.acquireRelease(Effect.orDie(run(admin, statementsOf("CREATE ROLE altar_owner"))), () =>
  Effect.orDie(
    run(admin, [
      own("DROP DATABASE altar WITH (FORCE)"),
      own("DROP ROLE altar"),
      own("DROP ROLE altar_reader"),
      own("DROP ROLE altar_owner"),
    ]),
  ),
)

const served = (databaseUrl: Redacted.Redacted<string>) =>
  Effect.map(serverWith({}, { databaseUrl, log: signing }, Sandbox.routes), ({ publicUrl }) => publicUrl)

const isRefused = (url: Redacted.Redacted<string>, statement: string) =>
  Effect.map(Effect.result(run(url, [statement])), (result) => {
    assert.isTrue(Result.isFailure(result), statement)
    assert.match(
      String(Result.isFailure(result) && JSON.stringify(result.failure)),
      /AuthorizationError|permission denied|must be owner/u,
      statement,
    )
  })

layer(Layer.merge(chain, database), realClock)("the roles of the guide", (it) => {
  it.effect("suffice: one migrates, one sells everything and can rewrite nothing, one reads", function* () {
    yield* made
    yield* run(owner, statementsOf("REVOKE ALL ON SCHEMA"))
    const refused = yield* commandRun(["migrate"], { DATABASE_URL: Redacted.value(altar) })
    assert.match(refused.stderr, /^The database role altar_\w+ lacks a privilege/u)
    assert.strictEqual(refused.code, 1)
    const all = Object.keys(Migrator.all).map((name) => name.replace(/^\d+_/u, ""))
    for (const migrations of [all, []]) {
      const { code, stderr, stdout } = yield* commandRun(["migrate", "--json"], { DATABASE_URL: Redacted.value(owner) })
      assert.deepStrictEqual([code, stderr, JSON.parse(stdout)], [0, "", { ok: true, migrations }])
    }
    // The table of an act that a later version sells.
    yield* run(owner, ["CREATE TABLE bells (id uuid PRIMARY KEY, hidden text[] NOT NULL DEFAULT '{}')"])
    yield* run(owner, statementsOf("REVOKE UPDATE, DELETE"))

    const url = yield* served(altar)
    const document = (yield* ask(`${url}/llms.txt`)).text
    const { stdout } = yield* Effect.promise(() => follow(programOf(document)))
    assert.match(stdout, /"entries":\[\{"sequence":1,.*"next":null/u)
    const payer = yield* newPayer()
    for (const [path, body] of [
      ["/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment: newCommitment() }],
      ["/api/acquire/moss-hare", {}],
      ["/api/elements/beeswax/collect", { reason: "June" }],
      ["/api/candles/week/moss-hare", { dedication: "For them" }],
    ] as const) {
      yield* buyAt(url, { path, body, payer })
    }

    const [salt, text] = ["a salt of sixteen or more", "The swift will be late."]
    const commitment = createHash("sha256").update(`${salt}\0${text}`).digest("hex")
    const stone = (yield* buyAt(url, { body: { commitment }, payer })).record
    const revealed = yield* ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text, agentName: "Wren" }))
    assert.strictEqual(revealed.status, 201, revealed.text)
    yield* ask(`${url}/api/witness/${stone.id}/proof`).pipe(
      until("no proof of a stone", ({ status }) => status === 200),
    )

    for (const statement of [
      "UPDATE witness_stones SET commitment = commitment",
      "DELETE FROM witness_stones",
      "DELETE FROM keepers",
      "UPDATE bells SET id = id",
      "UPDATE reveals SET hidden = hidden",
      "DELETE FROM payment_attempts",
      "UPDATE acts SET id = id",
      "DROP TABLE acts",
      "CREATE TABLE mine (id int)",
      "ALTER TABLE rooms ADD COLUMN mine int",
    ]) {
      yield* isRefused(altar, statement)
      yield* isRefused(reader, statement)
    }
    const [stones] = yield* run(reader, ["SELECT count(*) AS n FROM witness_stones"])
    assert.deepEqual(stones, [{ n: 2n }])
    yield* isRefused(reader, "SELECT * FROM room_messages")
    yield* isRefused(reader, "INSERT INTO reveals SELECT * FROM reveals")
  })
})
