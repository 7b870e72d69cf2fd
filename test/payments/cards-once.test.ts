/** A card's credential pays for the very request it was made for, and once, however many ask and whatever else they bring. */
import { Effect } from "effect"
import { Challenge, Credential } from "mppx"
import {
  books,
  carded,
  challengeSecret,
  credentialFor,
  dedication,
  prepare,
  Processor,
  reconcile,
  send,
  written,
} from "../lab/buyer/Cards.ts"
import { onChain, token } from "../lab/Chain.ts"
import { type Answer, ask, newKey, newPayer, post, signedFor } from "../lab/Fixture.ts"
import { assert, assertAnswer, suite } from "../lab/Suites.ts"

const week = "/api/candles/week/moss-hare"

suite("a server that takes cards", carded("20 seconds"), (it) => {
  it("accepts a credential only for the request, price, server and time that it names", function* ({ url }) {
    const bank = yield* Processor
    const key = newKey()
    const offer = yield* ask(`${url}${week}`, post(dedication, { "idempotency-key": key }))
    const good = credentialFor(offer, yield* Effect.promise(() => bank.grant("pm_card_visa", "900")))
    const challenge = Challenge.fromHeaders(offer.headers)
    const made = (change: object, payload: object = { spt: "spt_1" }) =>
      Credential.serialize({ challenge: { ...challenge, ...change }, payload })
    const forged = (change: { expires?: string }, secretKey: string) => {
      const { id: _, ...parts } = challenge
      return Credential.serialize({
        challenge: Challenge.from({ ...parts, ...change, secretKey }),
        payload: { spt: "spt_1" },
      })
    }
    // Written by hand: the library itself cannot write it.
    const nested = Buffer.from(`{"amount":${"[".repeat(5000)}${"]".repeat(5000)}}`).toString("base64url")
    const deep = Buffer.from(JSON.stringify({ challenge: { ...challenge, request: nested }, payload: { spt: "s" } }))
    const probe = yield* ask(`${url}${week}`, { method: "POST" })
    const to = (authorization: string, path = week, body = dedication, name = key) =>
      ask(`${url}${path}`, post(body, { "idempotency-key": name, authorization }))
    const expired = forged({ expires: "2026-01-01T00:00:00.000Z" }, challengeSecret)
    const cases: ReadonlyArray<readonly [what: string, reason: string, answer: Effect.Effect<Answer>]> = [
      ["another key", "challenge_mismatch", to(good, week, dedication, newKey())],
      ["another body", "challenge_mismatch", to(good, week, { dedication: "For Grandpa" })],
      ["another spirit", "challenge_mismatch", to(good, "/api/candles/week/rain-crow")],
      ["another rung", "challenge_mismatch", to(good, "/api/candles/month/moss-hare")],
      ["a probe's challenge", "challenge_mismatch", to(credentialFor(probe, "spt_1"))],
      ["a route without cards", "card_not_accepted", to(good, "/api/candles/day/moss-hare")],
      ["a changed price", "invalid_challenge", to(made({ request: { amount: "50" } }))],
      ["a longer life", "invalid_challenge", to(made({ expires: "2099-01-01T00:00:00Z" }))],
      ["no end", "invalid_challenge", to(made({ expires: undefined }))],
      ["another server's secret", "invalid_challenge", to(forged({}, "another secret"))],
      ["an old challenge", "payment_expired", to(expired)],
      ["no token", "malformed_credential", to(made({}, { card: "4242" }))],
      ["no credential", "malformed_credential", to("Payment !!!")],
      ["a credential nested without end", "invalid_challenge", to(`Payment ${deep.toString("base64url")}`)],
    ]
    const before = yield* written
    const { charges } = bank.asked()
    for (const [what, reason, request] of cases) {
      const answer = yield* request
      assertAnswer(answer, 402, "payment_invalid", reason, `${what}: ${answer.text}`)
      assert.match(String(answer.json["message"]), /This request charged nothing\.$/u)
    }
    assert.strictEqual(yield* written, before)
    assert.strictEqual(bank.asked().charges, charges)
    const bought = yield* to(good)
    assert.strictEqual(bought.status, 201, bought.text)
  })

  // I1
  it("charges a token for one key only, however many requests arrive at once", function* ({ url }) {
    const bank = yield* Processor
    const spt = yield* Effect.promise(() => bank.grant("pm_card_visa", "100000"))
    const offers = yield* Effect.forEach(Array.from({ length: 6 }, newKey), (key) =>
      Effect.map(ask(`${url}${week}`, post(dedication, { "idempotency-key": key })), (offer) => ({
        "idempotency-key": key,
        authorization: credentialFor(offer, spt),
      })),
    )
    const before = bank.taken().length
    const answers = yield* Effect.forEach(offers, (headers) => ask(`${url}${week}`, post(dedication, headers)), {
      concurrency: "unbounded",
    })
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409])
    for (const { json } of answers.filter(({ status }) => status === 409)) {
      assert.strictEqual(json["code"], "payment_authorization_already_bound")
    }
    assert.strictEqual(bank.taken().length, before + 1)
  })

  it("sells once when card and wallet pay for one key at the same time", function* ({ url }) {
    const bank = yield* Processor
    const payer = yield* newPayer()
    const purchase = yield* prepare(url)
    const before = bank.taken().length
    const { headers: wallet } = yield* signedFor(payer, purchase.url, dedication, purchase.key)
    const answers = yield* Effect.forEach(
      [purchase, { ...purchase, headers: wallet }, purchase, { ...purchase, headers: wallet }],
      send,
      { concurrency: "unbounded" },
    )
    for (const { status, text } of answers) assert.include([200, 201, 202], status, text)
    yield* reconcile(purchase)
    const balance = yield* onChain((client, { asset }) =>
      client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [payer.address] }),
    )
    const byWallet = Number((10_000_000n - balance) / 3_000_000n)
    assert.strictEqual(byWallet + bank.taken().length - before, 1)
    assert.deepInclude(yield* books(purchase), { state: "settled", acts: 1, candles: 1 })
  })

  it("refuses two payments in one request", function* ({ url }) {
    const purchase = yield* prepare(url)
    const answer = yield* send({ ...purchase, headers: { ...purchase.headers, "payment-signature": "e30=" } })
    assertAnswer(answer, 400, "bad_request")
    assert.include(answer.text, "This request charged nothing")
    assert.isUndefined(yield* books(purchase))
  })
})
