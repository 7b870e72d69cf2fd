/** Cards that pay at the same time, for one token or one key. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import * as Cards from "../lab/buyer/Cards.ts"
import { onChain, prepareAt, reconcile, send, token } from "../lab/buyer/Purchase.ts"
import { ask, newKey, newPayer, post, realClock, TestServer } from "../lab/Fixture.ts"

const { carded, cardBooks, dedication, prepareByCard, Processor } = Cards

const week = "/api/candles/week/moss-hare"

layer(carded("20 seconds"), realClock)("a server that takes cards", (it) => {
  it.effect("charges a token for one key only, however many requests arrive at once", function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const spt = yield* Effect.promise(() => bank.grant("pm_card_visa", "100000"))
    const offers = yield* Effect.forEach(Array.from({ length: 6 }, newKey), (key) =>
      Effect.map(ask(`${url}${week}`, post(dedication, { "idempotency-key": key })), (offer) => ({
        "idempotency-key": key,
        authorization: Cards.credentialFor(offer, spt),
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

  it.effect("sells once when card and wallet pay for one key at the same time", function* () {
    const { url } = yield* TestServer
    const bank = yield* Processor
    const payer = yield* newPayer()
    const purchase = yield* prepareByCard(url)
    const before = bank.taken().length
    const { headers: wallet } = yield* prepareAt(url, { path: week, body: dedication, key: purchase.key, payer })
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
    assert.deepInclude(yield* cardBooks(purchase), { state: "settled", acts: 1, candles: 1 })
  })
})
