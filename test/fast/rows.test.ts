/** A row that is not what this program writes: a defect that names the table and the column, and no value. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, Schema } from "effect"
import { readAttempt } from "../../src/payments/ledger/Attempt.ts"
import { readable, rowsOf, Whole } from "../../src/platform/Rows.ts"

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
  rail: "x402",
  network: "eip155:84532",
  asset: `0x${"a1".repeat(20)}`,
  payTo: `0x${"b2".repeat(20)}`,
  payer: `0x${"c3".repeat(20)}`,
  nonce: `0x${"d4".repeat(32)}`,
  signature: "0x",
  fromBlock: 1n,
  transaction: null,
  validBefore: 9_999_999_999n,
  amountAtomic: "10000",
  validAfter: "0",
  doubtedReason: null,
  doubtedAt: null,
  doubtAge: null,
}

const card = { ...row, rail: "card", payTo: "profile_1", nonce: "challenge", signature: "spt_secret" }

const wrong: ReadonlyArray<readonly [what: string, row: object, column: string]> = [
  ["a nonce that is no word", { ...row, nonce: "spt_secret" }, "nonce"],
  ["an amount that is no number", { ...row, amountAtomic: "1.5" }, "amountAtomic"],
  ["an input that is no JSON", { ...row, input: "spt_secret" }, "input"],
  ["a settled attempt without its answer", { ...row, state: "settled" }, "answer"],
  ["a failed attempt without its reason", { ...row, state: "failed" }, "reason"],
  ["a verdict without its time", { ...row, doubtedReason: "authorization_expired" }, "doubtedAt"],
  ["a card without its token", { ...card, signature: null }, "signature"],
]

describe("a row of payment_attempts", () => {
  it.effect("is read with its payment, its input and its amounts", () =>
    Effect.gen(function* () {
      const attempt = yield* readAttempt(row)
      assert.deepStrictEqual(attempt.input, { commitment: "00" })
      assert.deepStrictEqual([attempt.amountAtomic, attempt.acceptedAt], [10_000n, "1970-01-01T00:00:00.000Z"])
      assert.deepInclude(attempt.payment, { rail: "x402", fromBlock: 1n })
      assert.strictEqual((yield* readAttempt(card)).payment.rail, "card")
    }),
  )

  for (const [what, bad, column] of wrong) {
    it.effect(`with ${what} is a defect that names the column and not its value`, () =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(readAttempt(bad))
        const said = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it was read"
        assert.include(said, `a row of payment_attempts does not have its form: ${column}`)
        assert.notInclude(said, "spt_secret")
      }),
    )
  }

  it.effect("that cannot be read is left out of a sweep and logged, and its neighbours are read", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make((options) => void lines.push(Logger.formatJson.log(options)))
      const attempts = yield* readable([row, { ...row, nonce: "spt_secret" }, card], readAttempt).pipe(
        Effect.provide(Logger.layer([logger])),
      )
      assert.strictEqual(attempts.length, 2)
      assert.strictEqual(lines.length, 1)
      assert.include(lines.join(), "does not have its form: nonce")
      assert.notInclude(lines.join(), "spt_secret")
    }),
  )
})

describe("the rows of a statement", () => {
  const counted = rowsOf("rooms", Schema.Struct({ name: Schema.String, messages: Whole }))

  it.effect("are read with their numbers as numbers", () =>
    Effect.gen(function* () {
      const rows = yield* counted(Effect.succeed([{ name: "one", messages: 3n }]))
      assert.deepStrictEqual(rows, [{ name: "one", messages: 3 }])
    }),
  )

  it.effect("are a defect when one of them does not have its form, which names its place and not its value", () =>
    Effect.gen(function* () {
      const rows = [
        { name: "one", messages: 3n },
        { name: "two", messages: "spt_secret" },
      ]
      const exit = yield* Effect.exit(counted(Effect.succeed(rows)))
      const said = Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "they were read"
      assert.match(said, /a row of rooms does not have its form: .*messages/u)
      assert.notInclude(said, "spt_secret")
    }),
  )
})
