/** Statements: retried as whole transactions where the database asks for it, and rows that have their form or are a defect. */
import { assert, describe, it } from "../lab/It.ts"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, Fiber, Logger, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { readAttempt } from "../../src/payments/store/Attempt.ts"
import { readable, rowsOf, Whole } from "../../src/platform/Rows.ts"
import { retryConflicts, transaction } from "../../src/platform/Sql.ts"

const serialization = new SqlError.SqlError({ reason: new SqlError.SerializationError({ cause: "40001" }) })
const deadlock = new SqlError.SqlError({ reason: new SqlError.DeadlockError({ cause: "40P01" }) })
const unique = new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ cause: "23505", constraint: "keys" }) })

const listening = (refusals?: Script) => Effect.provide(listen(refusals), Reactivity.layer)

type Script = Readonly<Record<string, ReadonlyArray<SqlError.SqlError>>>

const listen = Effect.fnUntraced(function* (refusals: Script = {}) {
  const heard: Array<string> = []
  const answer = (statement: string) =>
    Effect.suspend(() => {
      const before = heard.filter((one) => one === statement).length
      heard.push(statement)
      const refusal = refusals[statement]?.[before]
      return refusal === undefined ? Effect.succeed([]) : Effect.fail(refusal)
    })
  const connection: SqlConnection.Connection = {
    execute: answer,
    executeRaw: answer,
    executeStream: (statement) => Stream.fromEffectDrain(answer(statement)),
    executeValues: answer,
    executeValuesUnprepared: answer,
    executeUnprepared: answer,
  }
  const sql = yield* SqlClient.make({
    acquirer: Effect.succeed(connection),
    compiler: PgClient.makeCompiler(),
    driver: "scripted",
    spanAttributes: [],
  })
  return { heard, sql }
})

const transactionOf = (sql: SqlClient.SqlClient) =>
  Effect.runSync(Effect.provideService(transaction, SqlClient.SqlClient, sql))

describe("a transaction", () => {
  it.effect.each([
    ["40001", { second: [serialization] }, /^BEGIN first second ROLLBACK BEGIN first second COMMIT$/u],
    ["40P01", { second: [deadlock] }, /^BEGIN first second ROLLBACK BEGIN first second COMMIT$/u],
    ["40001 at its COMMIT", { COMMIT: [serialization] }, /^BEGIN first second COMMIT.* BEGIN first second COMMIT$/u],
  ] as const)("that meets %s is rolled back and run again as a whole", ([, refusals, statements]) =>
    Effect.gen(function* () {
      const { heard, sql } = yield* listening(refusals)
      const fiber = yield* Effect.forkChild(transactionOf(sql)(Effect.andThen(sql`first`, sql`second`)))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(fiber)
      assert.match(heard.join(" "), statements)
    }),
  )

  it.effect("that meets any other error is rolled back once and fails with it", function* () {
    const { heard, sql } = yield* listening({ first: [unique] })
    assert.deepStrictEqual(yield* Effect.flip(transactionOf(sql)(sql`first`)), unique)
    assert.deepStrictEqual(heard, ["BEGIN", "first", "ROLLBACK"])
  })
})

it.effect("a statement with conflict after conflict runs nine times in all, and fails with the last", function* () {
  const { heard, sql } = yield* listening({ first: Array.from({ length: 20 }, () => serialization) })
  const fiber = yield* Effect.forkChild(Effect.flip(retryConflicts(sql`first`)))
  yield* TestClock.adjust("1 hour")
  assert.deepStrictEqual(yield* Fiber.join(fiber), serialization)
  assert.lengthOf(heard, 9)
})

const authorization = {
  asset: `0x${"a1".repeat(20)}`,
  from: `0x${"c3".repeat(20)}`,
  to: `0x${"b2".repeat(20)}`,
  value: "10000",
  validAfter: "0",
  validBefore: "9999999999",
  nonce: `0x${"d4".repeat(32)}`,
  signature: "0x",
}

const row = {
  id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  idempotencyKey: "a-key-of-this-test",
  fingerprint: "",
  act: "setWitnessStone",
  url: "https://altar.example/api/witness",
  input: '{"commitment":"00"}',
  number: 1,
  refusal: null,
  acceptedAt: new Date(0),
  checks: 0,
  state: "pending",
  reason: null,
  answer: null,
  paymentResponse: null,
  payment: {
    rail: "x402",
    network: "eip155:84532",
    authorization,
    fromBlock: "1",
  },
  amountAtomic: "10000",
  doubt: null,
}

const cardPayment = { rail: "card", profile: "profile_1", challenge: "challenge", token: "spt_secret" }
const card = { ...row, payment: cardPayment }
const misspelled = { ...row, payment: { ...row.payment, authorization: { ...authorization, nonce: "spt_secret" } } }

const defectOf = (read: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.exit(read), (exit) => (Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it was read"))

const wrong: ReadonlyArray<readonly [what: string, row: object, column: string]> = [
  ["a nonce that is no word", misspelled, "payment/authorization/nonce"],
  ["an amount that is no number", { ...row, amountAtomic: "1.5" }, "amountAtomic"],
  ["an input that is no JSON", { ...row, input: "spt_secret" }, "input"],
  ["a settled attempt without its answer", { ...row, state: "settled" }, "answer"],
  ["a failed attempt without its reason", { ...row, state: "failed" }, "reason"],
  ["a verdict without its time", { ...row, doubt: { reason: "authorization_expired", ageMillis: 1 } }, "doubt/at"],
  ["a card without its challenge", { ...card, payment: { ...cardPayment, challenge: null } }, "payment/challenge"],
]

describe("a row of payment_attempts", () => {
  it.effect("is decoded with its payment, its input and its amounts", function* () {
    const attempt = yield* readAttempt(row)
    assert.deepStrictEqual(attempt.input, { commitment: "00" })
    assert.deepStrictEqual([attempt.amountAtomic, attempt.acceptedAt], [10_000n, "1970-01-01T00:00:00.000Z"])
    assert.deepInclude(attempt.payment, { rail: "x402", fromBlock: 1n })
    assert.strictEqual((yield* readAttempt(card)).payment.rail, "card")
  })

  it.effect.each(wrong)("with %s is a defect that names the column and not its value", function* ([, bad, column]) {
    const said = yield* defectOf(readAttempt(bad))
    assert.include(said, `a row of payment_attempts does not have its form: ${column}`)
    assert.notInclude(said, "spt_secret")
  })

  it.effect("that cannot be decoded is left out of a sweep and logged, and its neighbours are read", function* () {
    const lines: Array<string> = []
    const logger = Logger.make((options) => void lines.push(Logger.formatJson.log(options)))
    const attempts = yield* readable([row, misspelled, card], readAttempt).pipe(Effect.provide(Logger.layer([logger])))
    assert.strictEqual(attempts.length, 2)
    assert.strictEqual(lines.length, 1)
    assert.include(lines.join(), "does not have its form: payment/authorization/nonce")
    assert.notInclude(lines.join(), "spt_secret")
  })
})

describe("the rows of a statement", () => {
  const counted = rowsOf("rooms", Schema.Struct({ name: Schema.String, messages: Whole }))

  it.effect("are decoded with their numbers as numbers", function* () {
    const rows = yield* counted(Effect.succeed([{ name: "one", messages: 3n }]))
    assert.deepStrictEqual(rows, [{ name: "one", messages: 3 }])
  })

  it.effect("are a defect when one does not match its schema, which names its place and not its value", function* () {
    const rows = [
      { name: "one", messages: 3n },
      { name: "two", messages: "spt_secret" },
    ]
    const said = yield* defectOf(counted(Effect.succeed(rows)))
    assert.match(said, /a row of rooms does not have its form: .*messages/u)
    assert.notInclude(said, "spt_secret")
  })
})
