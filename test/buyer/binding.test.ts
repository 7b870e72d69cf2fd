/** Any `fetch` wrapped to bind payments: at this altar, and at shops that answer anything else. */
import { assert, describe, it, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { bindFetch, type BindingOffer, checkBinding } from "../../src/buyer/index.ts"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { ask, newCommitment, newKey, newPayer, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { rejected } from "../lab/Assertions.ts"

const url = "https://shop.example/report?page=7"
const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const account = privateKeyToAccount(generatePrivateKey())

const offer = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "5000",
  asset: usdc,
  payTo: `0x${"1".repeat(40)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USD Coin", version: "2", feePayer: "kept" },
}

const challenge = {
  x402Version: 2,
  resource: { url, mimeType: "text/plain" },
  accepts: [{ ...offer, scheme: "upto" }, { ...offer, network: "solana:main" }, offer],
  extensions: { other: { info: { a: 1 } }, "request-binding": { info: { version: 1 }, schema: {} } },
}

const coded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64")

/** A shop with this offer, and the requests that it receives. */
const shop = (asked: object = challenge) => {
  const requests: Array<Request> = []
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    requests.push(request)
    return request.headers.has("payment-signature")
      ? new Response("The report.")
      : new Response(null, { status: 402, headers: { "payment-required": coded(asked) } })
  }
  return { requests, send }
}

describe("a fetch that binds payments", () => {
  it("pays the first approved transfer of a shop by a nonce that names the request, and keeps it first", async () => {
    const { requests, send } = shop()
    const [kept, offers]: [Array<string>, Array<BindingOffer>] = [[], []]
    const body = '{"b":1,"a":"é"}'
    const pay = bindFetch({
      account,
      fetch: send,
      approve: async (offered, asked) => offers.push(offered) > 0 && (await asked.text()) === body,
      keep: (payment) => {
        assert.lengthOf(requests, 1)
        kept.push(payment)
      },
    })
    const answer = await pay(url, { method: "PUT", body, headers: { accept: "text/plain" } })
    assert.strictEqual(await answer.text(), "The report.")
    assert.deepStrictEqual(
      offers.map(({ amount, network }) => [amount, network]),
      [["5000", "eip155:8453"]],
    )
    const paid = requests[1]
    assert.strictEqual(await paid?.text(), body)
    assert.deepInclude(paid, { method: "PUT", redirect: "error" })
    assert.strictEqual(paid?.headers.get("accept"), "text/plain")
    const header = paid?.headers.get("payment-signature") ?? ""
    assert.deepStrictEqual(kept, [header])
    const payment = JSON.parse(Buffer.from(header, "base64").toString())
    assert.deepStrictEqual(payment.accepted, offer)
    assert.deepStrictEqual(payment.extensions.other, { info: { a: 1 } })
    assert.strictEqual(payment.extensions["request-binding"].info.version, 1)
    const request = { method: "PUT", url, body: '{"a":"é","b":1}' }
    assert.strictEqual(await checkBinding(header, request), "bound")
    assert.strictEqual(await checkBinding(header, { ...request, method: "POST" }), "other")
    assert.strictEqual(await checkBinding(header, { ...request, url: `${url}1` }), "other")
    assert.strictEqual(await checkBinding(header, { ...request, body: "" }), "other")
    const { nonce: _, ...authorization } = payment.payload.authorization
    const random = { ...payment, extensions: {}, payload: { authorization: { ...authorization, nonce: "0x00" } } }
    assert.strictEqual(await checkBinding(coded(random), request), "unbound")
    assert.strictEqual(await checkBinding(coded({ ...payment, extensions: {} }), request), "other")
    assert.strictEqual(await checkBinding("nonsense", request), "other")
  })

  it.each<readonly [name: string, asked: object, isApproved: boolean]>([
    ["an offer that is not approved", challenge, false],
    ["a shop without the extension", { ...challenge, extensions: {} }, true],
    ["another version", { ...challenge, extensions: { "request-binding": { info: { version: 2 } } } }, true],
    ["a longer life than a day", { ...challenge, accepts: [{ ...offer, maxTimeoutSeconds: 86_401 }] }, true],
    [
      "a transfer by Permit2",
      { ...challenge, accepts: [{ ...offer, extra: { ...offer.extra, assetTransferMethod: "permit2" } }] },
      true,
    ],
    ["no challenge", [], true],
  ])("signs nothing for %s and returns the 402", async (_, asked, isApproved) => {
    const { requests, send } = shop(asked)
    const answer = await bindFetch({ account, fetch: send, approve: () => isApproved })(url)
    assert.strictEqual(answer.status, 402)
    assert.lengthOf(requests, 1)
  })

  it("signs nothing for another URL than it asked, or for a body that is no JSON", async () => {
    const { send } = shop()
    const pay = bindFetch({ account, fetch: send, approve: () => true })
    const [foreign, unread] = [pay(`${url}1`), pay(url, { method: "POST", body: "page=7" })]
    assert.strictEqual((await rejected(foreign)).code, "foreign_resource")
    assert.strictEqual((await rejected(unread)).code, "bad_request")
  })
})

layer(world(), realClock)("a fetch that binds payments", (it) => {
  it.effect("buys at this altar, once, with a receipt that shows the binding", function* () {
    const server = yield* TestServer
    const payer = yield* newPayer()
    const payments: Array<string> = []
    const pay = bindFetch({
      account: payer,
      approve: ({ amount }) => amount === "10000",
      keep: (payment) => payments.push(payment),
    })
    const request = post({ commitment: newCommitment() }, { "idempotency-key": newKey() })
    const answer = yield* Effect.promise(() => pay(`${server.url}/api/witness`, request))
    assert.strictEqual(answer.status, 201)
    const { record } = yield* Effect.promise(() => answer.json())
    const { text } = yield* ask(`${server.url}/api/witness/${record.id}`)
    assert.deepInclude(JSON.parse(text).receipt.binding, { version: 1, url: `${server.url}/api/witness` })
    const again = yield* Effect.promise(() => pay(`${server.url}/api/witness`, request))
    assert.strictEqual(again.status, 200)
    assert.lengthOf(payments, 1)
    assert.strictEqual(yield* authorizationsUsed({ account: payer }), 1)
  })
})
