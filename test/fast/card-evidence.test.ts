/** The evidence of a card charge: the proof in each answer of the processor, and the age of a missing charge. */
import { assert, describe, it } from "../lab/It.ts"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import * as CardProcessor from "../../src/payments/card/Processor.ts"
import type { Attempt } from "../../src/payments/store/Attempt.ts"
import type { CardPayment } from "../../src/payments/Payment.ts"
import { answerLimit } from "../../src/platform/Answers.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"

const refused = (status: number, type: string, code: string) => [status, { error: { type, code } }] as const
const intentOf = (status: string, change: object = {}) => {
  const metadata = { attempt: "attempt" }
  return [
    200,
    { id: "pi_1", object: "payment_intent", status, amount: 300, currency: "usd", metadata, ...change },
  ] as const
}
const mistake = refused(500, "api_error", "")

interface Case {
  /** The answers of the processor to a charge, a read, a search and a cancellation; nothing without one. */
  readonly charge?: readonly [status: number, body: object | string]
  readonly known?: readonly [status: number, body: object]
  readonly found?: object
  readonly canceled?: readonly [status: number, body: object]
  readonly hours?: number
  readonly payment?: Partial<CardPayment>
  readonly expected: string
  readonly asked?: ReadonlyArray<string>
}

const evidenceOf = Effect.fnUntraced(function* ({ canceled, charge, found, hours = 0, known, payment }: Case) {
  const asked: Array<string> = []
  const http = HttpClient.make((request, { pathname }) => {
    const step = /\/(search|cancel|pi_1)$/u.exec(pathname)?.[1] ?? "charge"
    asked.push(step)
    const search = [200, { object: "search_result", data: found === undefined ? [] : [found] }] as const
    const answer = { charge, search, pi_1: known, cancel: canceled }[step]
    if (answer === undefined) {
      const reason = new HttpClientError.TransportError({ request })
      return Effect.fail(new HttpClientError.HttpClientError({ reason }))
    }
    const [status, body] = answer
    const text = typeof body === "string" ? body : JSON.stringify(body)
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(text, { status })))
  })
  const { evidence } = yield* CardProcessor.make({
    apiUrl: "https://processor.example",
    profile: "profile",
    secretKey: Redacted.make("secret"),
    timeout: Duration.seconds(1),
  }).pipe(
    Effect.provideService(HttpClient.HttpClient, http),
    Effect.provide(Layer.mock(DatabaseClock, { estimate: Effect.succeed(Duration.toMillis(Duration.hours(hours))) })),
  )
  const attempt = { id: "attempt", amountAtomic: 3_000_000n, acceptedAt: new Date(0).toISOString() } as Attempt
  const result = yield* evidence(attempt, {
    rail: "card",
    profile: "profile",
    challenge: "",
    token: Redacted.make("token"),
    intent: Option.none(),
    ...payment,
  })
  const told =
    result._tag === "Void"
      ? `void, ${result.isRuling ? "ruling" : "doubted"}: ${result.reason}`
      : [result._tag, ...Option.toArray(result._tag === "Open" ? result.intent : Option.some(result.intent))].join(" ")
  return { told, asked }
})

const [, paid] = intentOf("succeeded")
const [, foreign] = intentOf("succeeded", { metadata: { attempt: "another" } })

const cases: Readonly<Record<string, Case>> = {
  "a charge": { charge: intentOf("succeeded"), expected: "Paid pi_1", asked: ["charge"] },
  "a charge in the longest answer": { charge: [200, JSON.stringify(paid).padEnd(answerLimit)], expected: "Paid pi_1" },
  "a charge in a longer answer": { charge: [200, JSON.stringify(paid).padEnd(answerLimit + 1)], expected: "Open" },
  "a charge of another attempt": { charge: [200, foreign], expected: "Open" },
  "a charge of less": { charge: intentOf("succeeded", { amount: 299 }), expected: "Open" },
  "a charge of another currency": { charge: intentOf("succeeded", { currency: "eur" }), expected: "Open" },
  "no answer": { expected: "Open", asked: ["charge"] },
  "an answer that is none": { charge: [200, "<html>so sorry</html>"], expected: "Open" },
  "a broken gateway": { charge: [503, "upstream unavailable"], expected: "Open", asked: ["charge", "search"] },
  "an unknown secret key": { charge: refused(401, "invalid_request_error", "api_key_expired"), expected: "Open" },
  "a limit of requests": { charge: refused(429, "invalid_request_error", "rate_limit"), expected: "Open" },
  "a charge in flight": { charge: refused(409, "invalid_request_error", "idempotency_key_in_use"), expected: "Open" },
  "a validation error": {
    charge: refused(400, "invalid_request_error", "token_in_use"),
    expected: "void, doubted: token_in_use",
  },
  "a decline": { charge: refused(402, "card_error", "card_declined"), expected: "void, ruling: card_declined" },
  "a bank at work": { charge: intentOf("processing"), expected: "Open pi_1" },
  "a charge that its bank has finished": {
    payment: { intent: Option.some("pi_1") },
    known: intentOf("succeeded"),
    expected: "Paid pi_1",
    asked: ["pi_1"],
  },
  "a known charge without an answer": { payment: { intent: Option.some("pi_1") }, expected: "Open pi_1" },
  "a charge that waits for its holder": {
    charge: intentOf("requires_action"),
    canceled: intentOf("canceled"),
    expected: "void, ruling: card_requires_action",
    asked: ["charge", "cancel"],
  },
  "a charge that waits for its holder and is not cancelled": {
    charge: intentOf("requires_action"),
    canceled: intentOf("succeeded"),
    expected: "Open pi_1",
  },
  "a cancelled charge": { charge: intentOf("canceled"), expected: "void, ruling: card_canceled" },
  "a stored server error without a charge": { charge: mistake, hours: 1, expected: "Open" },
  "a stored server error with a charge": {
    charge: mistake,
    found: paid,
    known: intentOf("succeeded"),
    expected: "Paid pi_1",
    asked: ["charge", "search", "pi_1"],
  },
  "a charge whose key may be forgotten": {
    hours: 13,
    found: paid,
    known: intentOf("succeeded"),
    expected: "Paid pi_1",
    asked: ["search", "pi_1"],
  },
  "a missing charge after 22 hours": { hours: 22, expected: "Open", asked: ["search"] },
  "a missing charge after 24 hours": { hours: 24, expected: "void, doubted: card_never_charged", asked: ["search"] },
  "a search that finds another's charge": { hours: 22, found: foreign, expected: "Open", asked: ["search"] },
  "the account of another profile": { payment: { profile: "another" }, hours: 24, expected: "Open", asked: [] },
}

describe("evidence of a card charge", () => {
  it.effect.each(Object.entries(cases))("of %s is decided by the table", function* ([, one]) {
    const { asked, told } = yield* evidenceOf(one)
    assert.strictEqual(told, one.expected)
    if (one.asked !== undefined) assert.deepStrictEqual(asked, one.asked)
  })
})
