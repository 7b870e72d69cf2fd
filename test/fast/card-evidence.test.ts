/** The evidence of a card charge: the proof in each answer of the processor, and the age of a missing charge. */
import { Duration, Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { CardProcessor } from "../../src/payments/card/CardProcessor.ts"
import type { Attempt } from "../../src/payments/ledger/Attempt.ts"
import type { CardPayment } from "../../src/payments/Payment.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

const refused = (type: string, code: string) => ({ error: { type, code } })
const empty = { object: "search_result", data: [] }

/** The evidence when the charge is answered so, and a search finds nothing. */
const evidenceOf = Effect.fnUntraced(function* (status: number, body: object, hours: number) {
  yield* TestClock.setTime(Duration.toMillis(Duration.hours(hours)))
  const http = HttpClient.make((request) => {
    const answer: readonly [number, object] = request.url.includes("/search") ? [200, empty] : [status, body]
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(answer[1], { status: answer[0] })))
  })
  const { evidence } = yield* CardProcessor.make({
    apiUrl: "https://processor.example",
    profile: "profile",
    secretKey: Redacted.make("secret"),
    timeout: Duration.seconds(1),
  }).pipe(Effect.provideService(HttpClient.HttpClient, http))
  const attempt = { id: "attempt", amountAtomic: 3_000_000n, acceptedAt: new Date(0).toISOString() } as Attempt
  const payment: CardPayment = {
    rail: "card",
    profile: "profile",
    challenge: "",
    token: Redacted.make("token"),
    intent: Option.none(),
  }
  const found = yield* evidence(attempt, payment)
  return found._tag === "Void" ? `void, ${found.isRuling ? "ruling" : "doubted"}: ${found.reason}` : found._tag
})

describe("evidence of a card charge", () => {
  effect.each([
    ["a validation error", 400, refused("invalid_request_error", "token_in_use"), 0, "void, doubted: token_in_use"],
    ["a decline", 402, refused("card_error", "card_declined"), 0, "void, ruling: card_declined"],
    ["a stored server error without a charge", 500, refused("api_error", ""), 1, "Open"],
    ["a missing charge after 22 hours", 500, {}, 22, "Open"],
    ["a missing charge after 24 hours", 500, {}, 24, "void, doubted: card_never_charged"],
  ] as const)("of %s is decided by the table", function* ([, status, body, hours, expected]) {
    assert.strictEqual(yield* evidenceOf(status, body, hours), expected)
  })
})
