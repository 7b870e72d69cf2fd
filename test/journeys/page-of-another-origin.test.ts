/** A web page of another origin buys with the unchanged x402 client, in a real browser that holds back what is not exposed. */
import { assert, describe, layer } from "../lab/It.ts"
import { Duration, Effect, Layer } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { Browser, hasBrowser } from "../lab/browser/Browser.ts"
import { pageElsewhere } from "../lab/browser/Elsewhere.ts"
import { automine, mineAll } from "../lab/buyer/Purchase.ts"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { newKey, realClock, TestServer, world } from "../lab/Fixture.ts"

/** The page's own program. It knows our documents, not our library, and a tracing script adds headers to each request. */
const program = `
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"

const tracing = {
  baggage: "sentry-environment=production",
  "cache-control": "no-cache",
  "sentry-trace": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "vendor=1",
  "x-api-key": "none",
}
const traced = (input, init) => {
  const request = new Request(input, init)
  for (const [name, value] of Object.entries(tracing)) request.headers.set(name, value)
  return fetch(request)
}
const json = (body, headers = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
})
const names = ["retry-after", "location", "idempotent-replayed", "x-request-id", "etag", "payment-response"]
const told = async (response) => ({
  status: response.status,
  body: await response.json(),
  headers: Object.fromEntries(names.map((name) => [name, response.headers.get(name)])),
})

export const commits = async ({ salt, words }) => {
  const bytes = new TextEncoder().encode(salt + "\\0" + words)
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
export const buys = async ({ url, secret, key, commitment }) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(secret)))
  const pay = wrapFetchWithPayment(traced, client)
  const response = await pay(url + "/api/witness", json({ commitment }, { "idempotency-key": key }))
  const settlement = new x402HTTPClient(client).getPaymentSettleResponse((name) => response.headers.get(name))
  return { ...(await told(response)), settlement }
}
export const posts = async ({ to, body }) => told(await traced(to, json(body ?? {})))
export const reads = async ({ from }) => told(await traced(from))
`

const impatient = world({ patience: Duration.seconds(1) })

describe.skipIf(!hasBrowser)("in a browser,", () => {
  layer(Layer.merge(impatient, Browser.layer), realClock)("a page of another origin", (it) => {
    it.effect("buys a stone, replays it, meets a 202, reconciles and reveals", function* () {
      const { url } = yield* TestServer
      const { call: page } = yield* pageElsewhere(program)
      const secret = generatePrivateKey()
      const { address } = privateKeyToAccount(secret)
      yield* Effect.orDie((yield* LocalChain).fund(address, 100_000n))

      // It buys: the offer, and the settlement, are headers that it must be able to read.
      const sealed = { salt: "salt-of-sixteen-or-more", words: "The heron will return by May." }
      const first = { url, secret, key: newKey(), commitment: yield* page("commits", sealed) }
      const bought = yield* page("buys", first)
      assert.strictEqual(bought.status, 201)
      assert.deepInclude(bought.settlement, { success: true, transaction: bought.body.receipt.transaction })

      // Its answer was lost: it sends the same purchase, which charges nothing.
      const replayed = yield* page("buys", first)
      assert.deepStrictEqual([replayed.status, replayed.headers["idempotent-replayed"]], [200, "true"])
      assert.deepStrictEqual(replayed.body, { ...bought.body, replayed: true })

      // The chain makes no blocks: it is told to wait, where to ask, and that this is no failure.
      yield* automine(false)
      const second = { ...first, key: newKey(), commitment: yield* page("commits", { ...sealed, words: "By June." }) }
      const pending = yield* page("buys", second)
      assert.strictEqual(pending.status, 202)
      assert.strictEqual(pending.settlement.errorReason, "settlement_pending")
      assert.strictEqual(pending.headers["location"], `${url}/api/reconcile/${second.key}`)
      assert.isAtLeast(Number(pending.headers["retry-after"]), 1)
      const waiting = yield* page("posts", { to: pending.headers["location"] })
      assert.strictEqual(waiting.status, 202)

      // A block comes: the address that it was told gives the stone.
      yield* mineAll
      const reconciled = yield* page("posts", { to: pending.headers["location"] })
      assert.deepStrictEqual([reconciled.status, reconciled.body.record.commitment], [200, second.commitment])

      // It reveals its words, and reads the stone as anyone sees it.
      const stone = `${url}/api/witness/${bought.body.record.id}`
      const revealed = yield* page("posts", {
        to: `${stone}/reveal`,
        body: { salt: sealed.salt, text: sealed.words },
      })
      assert.strictEqual(revealed.status, 201)
      const seen = yield* page("reads", { from: stone })
      assert.deepStrictEqual([seen.status, seen.body.stone.reveal.text], [200, sealed.words])
      assert.isNotNull(seen.headers["etag"])

      // A refusal has a number that the operator finds.
      const missing = yield* page("reads", { from: `${url}/api/nowhere` })
      assert.strictEqual(missing.status, 404)
      assert.match(missing.headers["x-request-id"], /^[0-9a-f-]{36}$/u)
      assert.strictEqual(yield* authorizationsUsed({ account: { address } }), 2)
    })
  })
})
