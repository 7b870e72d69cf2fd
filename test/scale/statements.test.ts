/** What a server sends its database while it makes its schema, sells every act, keeps rooms and its log: nothing that engines lack. */
import { randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { AppConfig } from "../../src/server/config/Config.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sandbox from "../../src/sandbox/Sandbox.ts"
import * as Server from "../../src/server/Server.ts"
import { acts } from "../support/ActTable.ts"
import { terminal } from "../support/Cli.ts"
import { sql } from "../support/Database.ts"
import { withDatabase } from "../support/globalSetup.ts"
import { origin, signer } from "../support/LogWorld.ts"
import { newRoom, poll, send } from "../support/Rooms.ts"
import { Agent, programOf } from "../support/Script.ts"
import { ask, chain, configOf, newPayer, pay, World } from "../support/World.ts"
import { violationsOf } from "./Portability.ts"
import { statementTap } from "./StatementTap.ts"

const admin = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe(statement)).pipe(
    Effect.provide(Sql.layer(Redacted.make(inject("databaseUrl")), 1)),
    Effect.orDie,
  )

/** Without a table: the migrations run, too. */
const empty = Layer.effect(
  LocalDatabase,
  Effect.gen(function* () {
    const name = `test_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(admin(`CREATE DATABASE ${name}`), () => admin(`DROP DATABASE ${name} WITH (FORCE)`))
    return LocalDatabase.of({ url: Redacted.make(withDatabase(inject("databaseUrl"), name)) })
  }),
)

const reads = ["/api/witness", "/api/acts", "/api/candles", "/api/altars", "/api/field", "/api/elements", "/api/stats"]

layer(sql.pipe(Layer.provideMerge(Layer.merge(empty, chain))), { excludeTestServices: true })("a server", (it) => {
  it.effect("asks its database for nothing that engines lack", () =>
    Effect.gen(function* () {
      const { url: direct } = yield* LocalDatabase
      const there = new URL(Redacted.value(direct))
      const tap = yield* Effect.acquireRelease(
        Effect.promise(() => statementTap(Number(there.port))),
        ({ close }) => Effect.sync(close),
      )
      there.port = String(tap.port)
      const config = yield* configOf(
        { sweepEvery: Duration.seconds(1) },
        { databaseUrl: Redacted.make(there.href), log: { signer, origin, checkpointFile: Option.none() } },
      )
      yield* Layer.build(Server.layer(Sandbox.routes).pipe(Layer.provide(Layer.succeed(AppConfig, config))))
      const { publicUrl: url } = config

      const agent = new Agent(privateKeyToAccount(generatePrivateKey()))
      const { text } = yield* ask(`${url}/llms.txt`)
      yield* Effect.promise(() => agent.follow(programOf(text)))
      const payer = yield* newPayer(100_000_000n)
      for (const act of acts()) {
        const { body, path } = act.request()
        const { answer } = yield* pay(payer, `${url}${path}`, body ?? {})
        assert.strictEqual(answer.status, 201, `${act.name}: ${answer.text}`)
      }
      for (const path of reads) yield* ask(`${url}${path}`)
      const guest = yield* newRoom(url)
      assert.strictEqual((yield* send(guest)).status, 201)
      assert.strictEqual((yield* poll(guest)).status, 200)

      const { run } = yield* Effect.provideService(terminal, World, { url })
      const acting = ["--why", "asked by a neighbour", "--by", "Ada"]
      for (const args of [
        ["pause", ...acting],
        ["resume", ...acting],
        ["audit"],
        ["export", "acts"],
        ["export", "chain"],
      ]) {
        const ended = yield* run(["admin", ...args], { DATABASE_URL: there.href })
        assert.strictEqual(ended.code, 0, ended.stderr)
      }

      const statements = [...tap.statements]
      const changed = (table: string) =>
        statements.some((one) => new RegExp(`(?:INTO|UPDATE) ${table}\\b`, "u").test(one))
      for (const table of ["effect_sql_migrations", "payment_payers", "witness_stones", "rooms", "rate_limits"]) {
        assert.isTrue(changed(table), `nothing was written to ${table}, or not through the wire that is watched`)
      }
      const found = statements.flatMap((one) => violationsOf(one).map((what) => `${what}: ${one.slice(0, 200)}`))
      assert.deepStrictEqual(found, [])
      assert.isAbove(statements.length, 120)
    }),
  )
})
