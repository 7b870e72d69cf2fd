/** An act bought by the wire: a request is signed, sent and asked about; how it ended is counted, not taken from answers. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { x402Client, x402HTTPClient } from "@x402/fetch"
import { network, onChain } from "../Chain.ts"
import { type Answer, ask, newCommitment, newKey, newPayer, post, TestServer } from "../Fixture.ts"
import { until } from "../Eventually.ts"
import type { Trap } from "../proxy/Faults.ts"
import { afterNextSweep, attemptOf, audit, books, broadcastOf, charges, price } from "./Books.ts"
import { type Authorization, challengeOf, encode, sign } from "./Payment.ts"

export { onChain, token } from "../Chain.ts"
export * from "./Books.ts"

export type Purchase = Effect.Success<ReturnType<typeof prepareAt>>

/** A request that pays, as it can be sent again and again; `server` is where it is sent. */
export interface Paid {
  readonly server: string
  readonly path: string
  readonly body: object | undefined
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

export interface PurchaseOptions extends Partial<Authorization> {
  /** A stone unless another act is named, with its body. */
  readonly path?: string | undefined
  readonly body?: object | undefined
  readonly key?: string | undefined
  readonly payer?: PrivateKeyAccount | undefined
  /** Held by a new wallet. */
  readonly funds?: bigint
}

/** A purchase that is signed and not sent; its authorization lives for 150 seconds by the chain, unless it is told. */
export const prepareAt = Effect.fnUntraced(function* (
  server: string,
  { body: given, funds, key = newKey(), path = "/api/witness", payer: wallet, ...change }: PurchaseOptions = {},
) {
  const body = given ?? (path === "/api/witness" ? { commitment: newCommitment() } : undefined)
  const payer = wallet ?? (yield* newPayer(funds))
  const { timestamp } = yield* onChain((client) => client.getBlock())
  const validBefore = String(Math.max(Number(timestamp), Math.floor(Date.now() / 1000)) + 150)
  const probe = body === undefined ? { method: "POST" } : post(body, { "idempotency-key": key })
  // A node or facilitator that is slow under load stops all offers for a second.
  const offered = ask(`${server}${path}`, probe).pipe(until(`${path} is never offered`, ({ status }) => status !== 503))
  const { accepts, resource } = challengeOf(yield* offered)
  const payment = yield* sign(payer, accepts[0], resource, { validBefore, ...change })
  const { authorization, signature } = payment.payload
  const { nonce } = authorization
  const headers: Readonly<Record<string, string>> = { "idempotency-key": key, "payment-signature": encode(payment) }
  return { server, path, body, key, headers, payer, payment, nonce, signature, validBefore: authorization.validBefore }
})

/** The same at the server of the test. */
export const prepare = (options?: PurchaseOptions) => Effect.flatMap(TestServer, ({ url }) => prepareAt(url, options))

export const send = ({ body, headers, path, server }: Omit<Paid, "key">) =>
  ask(`${server}${path}`, body === undefined ? { method: "POST", headers } : post(body, headers))

const membersOf = (answer: Answer, status: 200 | 201) => {
  assert.strictEqual(answer.status, status, answer.text)
  const { permalink, receipt, record } = JSON.parse(answer.text)
  return { answer, permalink, receipt, record }
}

/** Sends a purchase that must settle at once, and returns the answer with its members. */
export const settle = (purchase: Paid) => Effect.map(send(purchase), (answer) => membersOf(answer, 201))

/** The whole purchase of what is sold for sure, with a new wallet unless one is given. */
export const buyAt = Effect.fnUntraced(function* (server: string, options?: PurchaseOptions) {
  const purchase = yield* prepareAt(server, options)
  const since = Date.now()
  const first = yield* send(purchase)
  // A busy machine may need longer than the shortest patience of a server, which is a second.
  const isLate = first.status === 202 && Date.now() - since >= 1_000
  return { ...purchase, ...(isLate ? membersOf(yield* storedAnswer(purchase), 200) : membersOf(first, 201)) }
})

/** The same at the server of the test, a stone unless an act is named. */
export const buy = (path?: string, body?: object, options?: PurchaseOptions) =>
  Effect.flatMap(TestServer, ({ url }) => buyAt(url, { path, body, ...options }))

/** The same, for the id of what was bought. */
export const buyForId = (path: string, body: object) => Effect.map(buy(path, body), ({ record }) => String(record.id))

/** Payments of as many new wallets, which hold the price of one. */
export const prepareMany = (server: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => prepareAt(server, { funds: price }), { concurrency: 5 })

export const reconcile = ({ key, server }: Pick<Paid, "key" | "server">) =>
  ask(`${server}/api/reconcile/${key}`, { method: "POST" })

/** The final answer, from a server that pauses between inquiries. */
export const storedAnswer = (purchase: Pick<Paid, "key" | "server">) =>
  reconcile(purchase).pipe(until(`${purchase.key} stays open`, ({ status }) => status !== 202))

type Asked = Pick<Purchase, "key" | "server"> & Partial<Purchase>

/** One inquiry fails no attempt, nor do two at once. Returns the answer of a second one, a sweep later. */
export const secondInquiry = Effect.fnUntraced(function* (purchase: Asked) {
  assertPending(purchase, yield* reconcile(purchase))
  assertPending(purchase, yield* reconcile(purchase))
  yield* afterNextSweep(purchase)
  return yield* reconcile(purchase)
})

/** The 202 of an open outcome: where to ask again, when, and that nothing is to be paid again. */
export const assertPending = ({ key, payer, server, validBefore }: Asked, answer: Answer) => {
  assert.strictEqual(answer.status, 202, answer.text)
  assert.strictEqual(answer.json["code"], "settlement_pending")
  assert.strictEqual(answer.headers.get("location"), `${server}/api/reconcile/${key}`)
  assert.strictEqual(answer.json["reconcile"], `${server}/api/reconcile/${key}`)
  assert.match(String(answer.json["message"]), /Do not pay again/u)
  assert.isAtLeast(Number(answer.headers.get("retry-after")), 1)
  const { attempt } = JSON.parse(answer.text)
  assert.strictEqual(attempt.network, network)
  if (validBefore !== undefined)
    assert.strictEqual(Date.parse(attempt.validBefore), Number(validBefore) * 1_000, "until when it can be paid")
  const { transaction, ...open } = JSON.parse(
    Buffer.from(answer.headers.get("payment-response") ?? "", "base64").toString(),
  )
  assert.deepStrictEqual(open, {
    success: false,
    errorReason: "settlement_pending",
    network: network,
    payer: payer?.address.toLowerCase() ?? open.payer,
  })
  assert.match(transaction, /^(?:0x[0-9a-f]{64})?$/u)
}

/** Paid once, recorded once; the key answers with the first answer for ever. */
export const assertSettled = Effect.fnUntraced(function* (purchase: Purchase) {
  const entry = yield* books(purchase)
  assert.deepInclude(entry, { state: "settled", charged: 1, acts: 1, stones: 1 })
  const answers = [yield* send(purchase), yield* reconcile(purchase)]
  for (const answer of answers) {
    assert.strictEqual(answer.status, 200, answer.text)
    const { receipt, record, replayed } = JSON.parse(answer.text)
    assert.strictEqual(replayed, true)
    assert.deepInclude(purchase.body, { commitment: record.commitment })
    assert.strictEqual(receipt.transaction, entry.transaction)
    assert.strictEqual(answer.text, answers[0]?.text)
  }
  yield* audit(purchase.server)
  return entry
})

/** The settlement in an answer, as the unchanged x402 client reads it; it throws where there is none. */
export const settlementIn = ({ headers }: Answer) =>
  new x402HTTPClient(new x402Client()).getPaymentSettleResponse((name) => headers.get(name))

/** Never paid, nothing recorded. It keeps its authorization and gave back the rest: the next stone draws the same number. */
export const assertFailed = Effect.fnUntraced(function* (purchase: Purchase, reason: string) {
  const entry = yield* books(purchase)
  assert.deepInclude(entry, { state: "failed", reason, charged: 0, acts: 0, stones: 0, claims: 1 })
  for (const answer of [yield* send(purchase), yield* reconcile(purchase)]) {
    assert.strictEqual(answer.status, 402, answer.text)
    assert.strictEqual(answer.json["code"], "payment_failed")
    assert.strictEqual(answer.json["reason"], reason)
    assert.isAtMost(answer.headers.get("payment-required")?.length ?? assert.fail(), 1_536)
    const payer = purchase.payer.address.toLowerCase()
    const settlement = {
      success: false,
      errorReason: reason,
      transaction: yield* broadcastOf(purchase),
      network,
      payer,
    }
    assert.deepStrictEqual<object>(settlementIn(answer), settlement)
    assert.deepStrictEqual(answer.json["settlement"], settlement)
  }
  const next = yield* assertNextStone(purchase.server)
  assert.strictEqual(next.number, entry.number, "the number of the failed attempt goes out again")
  return entry
})

/** Once its transfer is in a block, its client asks, and has its stone. */
export const settlesNow = Effect.fnUntraced(function* (purchase: Purchase) {
  yield* charges(purchase).pipe(until(`${purchase.key} is never charged`, ({ charged }) => charged > 0))
  const answer = yield* reconcile(purchase)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* assertSettled(purchase)
})

/** Two inquiries, a sweep apart, agree that it was never paid. */
export const failsNow = Effect.fnUntraced(function* (purchase: Purchase, reason: string) {
  const answer = yield* secondInquiry(purchase)
  assert.strictEqual(answer.status, 402, answer.text)
  return yield* assertFailed(purchase, reason)
})

/** Sends it until a proxy holds it. The request continues in the background. */
export const sendInto = Effect.fnUntraced(function* (trap: Trap, purchase: Paid) {
  const request = yield* Effect.forkScoped(send(purchase))
  yield* trap.arrived
  return request
})

export const assertNextStone = Effect.fnUntraced(function* (server: string) {
  const next = yield* buyAt(server)
  yield* audit(server)
  return yield* books(next)
})

/** Waits until no inquiry is needed. */
export const ended = (purchase: Purchase) =>
  attemptOf(purchase).pipe(
    Effect.map((attempt) => attempt?.state),
    until(`${purchase.key} stays pending`, (state) => state !== "pending"),
  )

export const reasonIn = ({ json, status }: Answer) => [status, json["code"], json["reason"]]
