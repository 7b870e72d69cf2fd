/** A server's statements while it migrates, sells every act, and serves rooms and its log: nothing that engines lack. */
import { assert, layer } from "../lab/It.ts"
import { Duration, Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sandbox from "../../src/sandbox/Sandbox.ts"
import { buyAt } from "../lab/buyer/Purchase.ts"
import { acts } from "../lab/ActTable.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { emptyDatabase, sql } from "../lab/Database.ts"
import { signing } from "../lab/log/LogFixture.ts"
import { newRoom, poll, sendSignal } from "../lab/server/Rooms.ts"
import { follow, programOf } from "../lab/DocumentAgent.ts"
import { chain } from "../lab/Chain.ts"
import * as Postgres from "../lab/proxy/Postgres.ts"
import { serverWith, ask, newPayer, realClock } from "../lab/Fixture.ts"

/** Features of PostgreSQL that compatible engines lack (decision 5). */
const lacking: ReadonlyArray<readonly [what: string, words: RegExp]> = [
  ["LOCK TABLE", /\bLOCK TABLE\b/u],
  ["an advisory lock", /\bpg_(?:try_)?advisory/iu],
  ["LISTEN or NOTIFY", /^(?:UN)?LISTEN\b|^NOTIFY\b|\bpg_notify\b/u],
  ["a system column", /\bctid\b|\bxmin\b/u],
  ["a savepoint", /\bSAVEPOINT\b/u],
  ["a deferrable constraint", /\bDEFERRABLE\b|\bSET CONSTRAINTS\b/u],
  ["a sequence", /\b(?:nextval|setval|currval|bigserial|serial)\b|\bCREATE SEQUENCE\b|\bAS IDENTITY\b/iu],
  ["ON CONFLICT on an expression", /\bON CONFLICT \((?![a-z_, ]+\))/u],
  ["an anonymous block", /^DO \$/iu],
  ["a trigger", /\bCREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b/u],
  ["a temporary table", /\bTEMP(?:ORARY)? TABLE\b/u],
  ["a setting of the session", /^SET (?!TRANSACTION|LOCAL)/u],
]

const violationsOf = (statement: string) =>
  lacking.flatMap(([what, words]) => (words.test(statement.trim()) ? [what] : []))

const reads = ["/api/witness", "/api/acts", "/api/candles", "/api/altars", "/api/field", "/api/elements", "/api/stats"]

layer(sql.pipe(Layer.provideMerge(Layer.merge(emptyDatabase, chain))), realClock)("a server", (it) => {
  it.effect("sends its database nothing that other engines lack", function* () {
    const { url: direct } = yield* LocalDatabase
    const tap = yield* Postgres.make(Redacted.value(direct))
    const { publicUrl: url } = yield* serverWith(
      { sweepEvery: Duration.seconds(1) },
      { databaseUrl: Redacted.make(tap.url), log: signing },
      Sandbox.routes,
    )

    const { text } = yield* ask(`${url}/llms.txt`)
    yield* Effect.promise(() => follow(programOf(text)))
    const payer = yield* newPayer(100_000_000n)
    for (const act of acts()) {
      yield* buyAt(url, { ...act.request(), payer })
    }
    for (const path of reads) yield* ask(`${url}${path}`)
    const guest = yield* newRoom(url)
    assert.strictEqual((yield* sendSignal(guest)).status, 201)
    assert.strictEqual((yield* poll(guest)).status, 200)

    const acting = ["--why", "asked by a neighbour", "--by", "Ada"]
    for (const args of [["pause", ...acting], ["resume", ...acting], ["audit"]]) {
      const ended = yield* commandRun(["admin", ...args], { DATABASE_URL: tap.url })
      assert.strictEqual(ended.code, 0, ended.stderr)
    }

    const statements = [...tap.statements]
    const changed = (table: string) =>
      statements.some((one) => new RegExp(`(?:INTO|UPDATE) "?${table}\\b`, "u").test(one))
    for (const table of ["spirit_altar_migrations", "payment_payers", "witness_stones", "rooms", "rate_limits"]) {
      assert.isTrue(changed(table), `nothing was written to ${table}, or not through the wire that is watched`)
    }
    // Effect's migrator locks its own table, and only while migrations are pending.
    const ours = statements.filter((one) => one !== 'LOCK TABLE "spirit_altar_migrations" IN ACCESS EXCLUSIVE MODE')
    const found = ours.flatMap((one) => violationsOf(one).map((what) => `${what}: ${one.slice(0, 200)}`))
    assert.deepStrictEqual(found, [])
    assert.isAbove(statements.length, 120)
  })
})
