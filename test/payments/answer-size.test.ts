/** Answers about money are read up to a megabyte: more is no answer, proves nothing, and fills no memory. */
import { createServer, type ServerResponse } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import type { Attempt } from "../../src/payments/ledger/Attempt.ts"
import { answerLimit } from "../../src/platform/Answers.ts"
import { CardProcessor } from "../../src/payments/card/CardProcessor.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import * as Facilitator from "../../src/payments/x402/settlement/Facilitator.ts"
import type { CardPayment } from "../../src/payments/Payment.ts"
import { requirementsOf } from "../../src/payments/PaymentTerms.ts"
import { Settlement } from "../../src/payments/Settlement.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { authorization, hash, terms } from "../lab/buyer/Samples.ts"
import { apart, assert } from "../lab/Suites.ts"

/** The bytes that a server may send before it learns that the reader stopped: buffers of both sides, generously. */
const buffered = 64 * answerLimit

/** Starts as an answer that would count, and never ends; says how much of it was taken when the reader has gone. */
const endless = Effect.fnUntraced(function* (beginning: string) {
  const gone = Promise.withResolvers<number>()
  const pour = (response: ServerResponse) => {
    const drop = Buffer.alloc(65_536, " ")
    let sent = 0
    const more = () => {
      while (!response.destroyed && sent < 4 * buffered) {
        sent += drop.length
        if (!response.write(drop)) return
      }
    }
    response.on("drain", more)
    response.on("close", () => gone.resolve(sent))
    response.writeHead(200, { "content-type": "application/json" })
    response.write(beginning)
    more()
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        request.resume()
        request.on("end", () => pour(response))
      })
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => made.close().closeAllConnections()),
  )
  const at = server.address()
  const url = `http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}`
  const taken = Effect.promise(() => gone.promise).pipe(
    Effect.tap((sent) => Effect.sync(() => assert.isBelow(sent, buffered, "it is not read to its end"))),
  )
  return { url, taken }
})

const patience = Duration.minutes(1)

const facilitator = (url: string) =>
  Effect.flatMap(Settlement, (settlement) =>
    settlement.submit({
      attempt: attempt.id,
      authorization,
      requirements: requirementsOf(terms, 10_000n),
      payload: "{}",
    }),
  ).pipe(
    Effect.provide(
      Facilitator.layer({ url, key: Option.none(), terms, timeout: patience }).pipe(
        Layer.provide([NodeHttpClient.layerUndici, Layer.mock(Chain, {}), Layer.mock(DatabaseClock, {})]),
      ),
    ),
  )

const payment: CardPayment = {
  rail: "card",
  profile: "profile",
  challenge: "challenge",
  token: Redacted.make("spt_1"),
  intent: Option.none(),
}

const attempt: Attempt = {
  id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  idempotencyKey: "a-key-of-this-test",
  fingerprint: "",
  act: "lightWeek",
  url: "https://altar.example/api/candles/week/moss-hare",
  input: {},
  amountAtomic: 3_000_000n,
  payment,
  number: null,
  state: "pending",
  acceptedAt: new Date().toISOString(),
  checks: 0,
  refusal: null,
  pendingFailure: null,
}

const processor = (url: string) =>
  Effect.flatMap(CardProcessor, (cards) => cards.evidence(attempt, payment)).pipe(
    Effect.provide(
      CardProcessor.layer({
        apiUrl: url,
        profile: payment.profile,
        secretKey: Redacted.make("sk"),
        timeout: patience,
      }).pipe(Layer.provide(NodeHttpClient.layerUndici)),
    ),
  )

const intent = {
  id: "pi_1",
  object: "payment_intent",
  status: "succeeded",
  amount: 300,
  currency: "usd",
  metadata: { attempt: attempt.id },
}

apart("an endless response", Layer.empty, (it) => {
  it("of a facilitator leaves the outcome unclear", function* () {
    const { taken, url } = yield* endless(JSON.stringify({ success: true, transaction: hash }))
    const submission = yield* facilitator(url)
    assert.deepStrictEqual(submission, {
      _tag: "Unclear",
      reason: "facilitator_AnswerTooLarge",
      transaction: Option.none(),
    })
    yield* taken
  })
})

apart("a complete response above the size limit", Layer.empty, (it) => {
  const padding = (text: string, size: number) => text.padEnd(size)
  const settled = JSON.stringify({ success: true, transaction: hash })

  it("is counted up to the limit and not a byte further", function* () {
    for (const [size, tag] of [
      [answerLimit, "Submitted"],
      [answerLimit + 1, "Unclear"],
    ] as const) {
      const url = yield* serve(async () => ({ status: 200, body: padding(settled, size) }))
      assert.strictEqual((yield* facilitator(url))._tag, tag, String(size))
      const bank = yield* serve(async () => ({ status: 200, body: padding(JSON.stringify(intent), size) }))
      assert.strictEqual((yield* processor(bank))._tag, tag === "Submitted" ? "Paid" : "Open", String(size))
    }
  })
})
