/** A stranger's refused payments stop costing questions to the node; honest payers are not delayed. */
import { Effect } from "effect"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { ask, newCommitment, newKey, newPayer, post, TestServer } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { apart, assert, assertAnswer } from "../lab/Suites.ts"

const from = (address: string) => ({ "x-forwarded-for": address })

/** Payments of wallets that hold nothing: each is signed well, and the node has to be asked to refuse it. */
const refusedBy = Effect.fnUntraced(function* (address: string, count: number, concurrency: number) {
  const { url } = yield* TestServer
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
  const wallets = yield* Effect.forEach(Array.from({ length: count }), () => newPayer(0n))
  const answers = yield* Effect.forEach(
    wallets,
    Effect.fnUntraced(function* (wallet) {
      const payment = yield* sign(wallet, challenge.accepts[0], challenge.resource)
      const headers = { "idempotency-key": newKey(), "payment-signature": encode(payment), ...from(address) }
      return yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
    }),
    { concurrency },
  )
  return { answers, wallets: wallets.map(({ address }) => address.slice(2).toLowerCase()) }
})

const server = proxiedServer("relayer", "10 seconds", "1 hour", 50, {}, { trustedProxies: loopback })

apart("refused payments from one address", server, (it) => {
  it("get 402 sixty times a minute, then 429 without a request to the node", function* ({ rpc, url }) {
    const honest = yield* Purchase.prepare(url)
    const settled = yield* Purchase.prepare(url)
    const sent = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(sent.status, 201, "a payment that settles counts nowhere")

    const heard: Array<string> = []
    rpc.arm("*", "holdBefore", (params) => (heard.push(params.toLowerCase()), false))
    const isAskedAbout = (wallet: string) => heard.some((params) => params.includes(wallet))
    const first = yield* refusedBy("198.51.100.7", 60, 8)
    assert.isTrue(first.wallets.every(isAskedAbout))
    for (const one of first.answers) assertAnswer(one, 402, "payment_invalid")

    const more = yield* refusedBy("198.51.100.7", 20, 8)
    for (const one of more.answers) {
      assertAnswer(one, 429, "rate_limited")
      const wait = Number(one.headers.get("retry-after"))
      assert.isTrue(wait >= 1 && wait <= 60, String(wait))
      assert.strictEqual(one.json["retryAfter"], wait)
      assert.match(String(one.json["message"]), /60 refused payments per minute.*charged and changed nothing\.$/u)
    }
    assert.isFalse(more.wallets.some(isAskedAbout))
    yield* rpc.calm

    const replay = yield* ask(`${url}/api/witness`, post(settled.body, { ...settled.headers, ...from("198.51.100.7") }))
    assert.strictEqual(replay.status, 200, "a known key is answered as ever")
    const unpaid = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, from("198.51.100.7")))
    assert.strictEqual(unpaid.status, 402, "and so is the question for a price")
    const elsewhere = yield* ask(`${url}/api/witness`, post(honest.body, { ...honest.headers, ...from("203.0.113.9") }))
    assert.strictEqual(elsewhere.status, 201, "another address is not held up")
  })

  it("are limited when they arrive all at once, too", function* () {
    const { answers } = yield* refusedBy("198.51.100.8", 300, 300)
    const refused = answers.filter(({ status }) => status === 402).length
    assert.isAtLeast(refused, 60)
    assert.isAtMost(refused, 60 + 64)
    assert.strictEqual(answers.filter(({ status }) => status === 429).length, 300 - refused)
  })
})
