/** Charges a granted token and reports the evidence. Each attempt has one idempotency key, so repeats charge once. */
import { type Duration, Effect, Option, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { textOf } from "../../platform/Answers.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import type { Attempt } from "../store/Attempt.ts"
import { type CardPayment, centsOf } from "../Payment.ts"
import { lasting } from "../../platform/Lasting.ts"
import { log } from "../../platform/LogMessages.ts"

/**
 * The evidence of a charge. `isRuling` is false if the same request may still charge, or a charge could not be found.
 * `Open` is everything else, with its intent if known.
 */
export type CardEvidence =
  | { readonly _tag: "Paid"; readonly intent: string }
  | { readonly _tag: "Void"; readonly reason: string; readonly isRuling: boolean }
  | { readonly _tag: "Open"; readonly intent: Option.Option<string> }

export interface CardProcessorConfig {
  readonly apiUrl: string
  /** The profile that tokens are granted to. The account of another profile knows nothing of a charge. */
  readonly profile: string
  readonly secretKey: Redacted.Redacted<string>
  readonly timeout: Duration.Duration
}

/** The version of the processor's API that supports granted tokens. */
const apiVersion = "2026-07-29.preview"

/**
 * The processor forgets an idempotency key after 24 hours. A charge is repeated under its key for the first twelve.
 * Only after twenty-three does a missing charge count as never made.
 */
const keyLife = 12 * 3_600_000
const certainAfter = 23 * 3_600_000

const Intent = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("payment_intent"),
  status: Schema.String,
  amount: Schema.Int,
  currency: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.String),
})
type Intent = typeof Intent.Type

const Refusal = Schema.Struct({
  error: Schema.Struct({
    type: Schema.String,
    code: Schema.optionalKey(Schema.NullOr(Schema.String)),
    decline_code: Schema.optionalKey(Schema.NullOr(Schema.String)),
    payment_intent: Schema.optionalKey(Intent),
  }),
})

const intentIn = Schema.decodeUnknownOption(Schema.fromJsonString(Intent))
const refusalIn = Schema.decodeUnknownOption(Schema.fromJsonString(Refusal))
const resultsIn = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ object: Schema.Literal("search_result"), data: Schema.Array(Intent) })),
)

interface Answer {
  readonly status: number
  readonly text: string
}

const paid = (intent: string): CardEvidence => ({ _tag: "Paid", intent })
const voided = (reason: string, isRuling = true): CardEvidence => ({ _tag: "Void", reason, isRuling })
const open = (intent: Option.Option<string> = Option.none()): CardEvidence => ({ _tag: "Open", intent })

/** Intents that wait for an action of the holder or of ours, which never comes. */
const unfinished = new Set(["requires_action", "requires_confirmation", "requires_capture"])

export const make = Effect.fnUntraced(function* (config: CardProcessorConfig) {
  const http = yield* HttpClient.HttpClient
  const clock = yield* DatabaseClock
  const base = config.apiUrl.replace(/\/$/u, "")

  const absence = lasting()
  /** None without a readable answer of the processor within the timeout. */
  const call = (request: HttpClientRequest.HttpClientRequest) =>
    http
      .execute(
        request.pipe(
          HttpClientRequest.basicAuth(Redacted.value(config.secretKey), ""),
          HttpClientRequest.setHeader("stripe-version", apiVersion),
        ),
      )
      .pipe(
        Effect.flatMap((response) =>
          Effect.map(textOf(response), (text): Answer => ({ status: response.status, text })),
        ),
        Effect.timeout(config.timeout),
        Effect.tap(absence.ends),
        Effect.tapError(({ _tag: reason }) => absence.goesOn(reason, log("card processor unavailable", { reason }))),
        Effect.option,
      )

  const charge = (attempt: Attempt, payment: CardPayment) =>
    call(
      HttpClientRequest.post(`${base}/v1/payment_intents`).pipe(
        HttpClientRequest.setHeader("idempotency-key", `altar_${attempt.id}`),
        HttpClientRequest.bodyUrlParams({
          amount: centsOf(attempt.amountAtomic).toString(),
          currency: "usd",
          confirm: "true",
          "automatic_payment_methods[enabled]": "true",
          "automatic_payment_methods[allow_redirects]": "never",
          shared_payment_granted_token: Redacted.value(payment.token),
          "metadata[attempt]": attempt.id,
        }),
      ),
    )

  const isOf = (attempt: Attempt, intent: Intent) =>
    intent.metadata["attempt"] === attempt.id &&
    BigInt(intent.amount) === centsOf(attempt.amountAtomic) &&
    intent.currency === "usd"

  /** Cancels an intent that waits for an action, so that it cannot be completed later. */
  const cancel = Effect.fnUntraced(function* (intent: Intent) {
    const answer = yield* call(HttpClientRequest.post(`${base}/v1/payment_intents/${intent.id}/cancel`))
    const now = Option.flatMap(answer, ({ text }) => intentIn(text))
    return Option.exists(now, ({ id, status }) => id === intent.id && status === "canceled")
      ? voided(`card_${intent.status}`)
      : open(Option.some(intent.id))
  })

  const judge = (attempt: Attempt, intent: Intent): Effect.Effect<CardEvidence> => {
    if (!isOf(attempt, intent)) return Effect.succeed(open())
    if (intent.status === "succeeded") return Effect.succeed(paid(intent.id))
    if (intent.status === "requires_payment_method") return Effect.succeed(voided("card_declined"))
    if (intent.status === "canceled") return Effect.succeed(voided("card_canceled"))
    return unfinished.has(intent.status) ? cancel(intent) : Effect.succeed(open(Option.some(intent.id)))
  }

  const retrieve = Effect.fnUntraced(function* (attempt: Attempt, id: string) {
    const answer = yield* call(HttpClientRequest.get(`${base}/v1/payment_intents/${encodeURIComponent(id)}`))
    const intent = Option.flatMap(answer, ({ status, text }) => (status === 200 ? intentIn(text) : Option.none()))
    return Option.isSome(intent) ? yield* judge(attempt, intent.value) : open(Option.some(id))
  })

  const search = Effect.fnUntraced(function* (attempt: Attempt, age: number) {
    const query = new URLSearchParams({ query: `metadata['attempt']:'${attempt.id}'` })
    const answer = yield* call(HttpClientRequest.get(`${base}/v1/payment_intents/search?${query}`))
    const results = Option.flatMap(answer, ({ status, text }) => (status === 200 ? resultsIn(text) : Option.none()))
    if (Option.isNone(results)) return open()
    const own = results.value.data.find((intent) => isOf(attempt, intent))
    if (own !== undefined) return yield* retrieve(attempt, own.id)
    return age > certainAfter ? voided("card_never_charged", false) : open()
  })

  /** Judges a refusal: a decline is final under its key. A fault of the processor or of ours proves nothing. */
  const judgeRefusal = Effect.fnUntraced(function* (attempt: Attempt, answer: Answer, age: number) {
    const refusal = refusalIn(answer.text)
    if (Option.isNone(refusal)) return answer.status >= 500 ? yield* search(attempt, age) : open()
    const { code, decline_code, payment_intent, type } = refusal.value.error
    const reason = decline_code ?? code ?? "card_declined"
    if (answer.status === 402 && type === "card_error") {
      if (payment_intent === undefined) return voided(reason)
      const evidence = yield* judge(attempt, payment_intent)
      return evidence._tag === "Void" ? voided(reason) : evidence
    }
    // Validation errors are not stored under the key, so the same request may succeed later.
    if (answer.status === 400 && type === "invalid_request_error") return voided(code ?? "card_refused", false)
    return answer.status >= 500 || type === "idempotency_error" ? yield* search(attempt, age) : open()
  })

  /** Requests the charge of an attempt, or its outcome. Never fails: a missing answer proves nothing. */
  const evidence = Effect.fn("CardProcessor.evidence")(function* (attempt: Attempt, payment: CardPayment) {
    if (payment.profile !== config.profile) return open()
    if (Option.isSome(payment.intent)) return yield* retrieve(attempt, payment.intent.value)
    const age = (yield* clock.estimate) - Date.parse(attempt.acceptedAt)
    if (age > keyLife) return yield* search(attempt, age)
    const answer = yield* charge(attempt, payment)
    if (Option.isNone(answer)) return open()
    const intent = answer.value.status === 200 ? intentIn(answer.value.text) : Option.none()
    return Option.isSome(intent) ? yield* judge(attempt, intent.value) : yield* judgeRefusal(attempt, answer.value, age)
  })

  return { evidence }
})
