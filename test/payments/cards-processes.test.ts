/** Cards on servers that are processes of their own: killed at any point, or two at once, one charge; half configured, none. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { proxied } from "../lab/server/Environment.ts"
import { patientSeconds } from "../lab/Patience.ts"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import { books, challengeSecret, prepare, processor, Processor, reconcile, send } from "../lab/buyer/Cards.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { apart } from "../lab/Suites.ts"

const cards = (url: string) => ({
  CARD_PROFILE_ID: CardProcessor.profile,
  CARD_SECRET_KEY: CardProcessor.secretKey,
  CARD_CHALLENGE_SECRET: challengeSecret,
  CARD_API_URL: url,
})

const environment = Effect.gen(function* () {
  return {
    ...(yield* proxied),
    RPC_URL: (yield* LocalChain).rpcUrl,
    ...cards((yield* Processor).url),
    SETTLE_TIMEOUT_SECONDS: "20",
    SWEEP_SECONDS: "3600",
    LOG_LEVEL: "Info",
  }
})

const place = Layer.merge(stage, processor)

const settledBy = Effect.fnUntraced(function* (purchase: Effect.Success<ReturnType<typeof prepare>>) {
  yield* books(purchase).pipe(until("it was never settled", (row) => row?.state === "settled"))
  assert.deepInclude(yield* books(purchase), { taken: 1, acts: 1, candles: 1 })
  assert.deepStrictEqual((yield* Processor).taken().length, 1)
  const again = yield* send(purchase)
  assert.deepStrictEqual([again.status, again.text], [200, (yield* reconcile(purchase)).text])
})

apart("a charge of a server killed", place, (it) => {
  for (const [when, fault] of [
    ["with the charge in flight", "holdBefore"],
    ["with the charge made and its response held back", "holdAfter"],
  ] as const) {
    it(`${when} is concluded by the server's next start`, function* () {
      const bank = yield* Processor
      const server = yield* ServerProcess.make(yield* environment)
      yield* server.start
      const purchase = yield* prepare(server.url)
      const trap = bank.arm(fault)
      yield* Effect.forkScoped(Effect.exit(send(purchase)))
      yield* trap.arrived
      yield* server.kill
      yield* bank.calm
      yield* trap.discard
      yield* server.start
      yield* settledBy(purchase)
      assert.strictEqual(bank.asked().keys, 1)
    })
  }

  it("with the intent on disk and no call made is concluded by the server's next start", function* ({ database }) {
    const bank = yield* Processor
    const server = yield* ServerProcess.make(yield* environment)
    yield* server.start
    const purchase = yield* prepare(server.url)
    const trap = database.arm(/INSERT INTO payment_attempts/u, "holdAfter")
    yield* Effect.forkScoped(Effect.exit(send(purchase)))
    yield* trap.arrived
    yield* server.kill
    yield* database.calm
    assert.strictEqual(bank.asked().charges, 0)
    assert.strictEqual((yield* books(purchase))?.state, "pending")
    yield* server.start
    yield* settledBy(purchase)
  })
})

apart("two servers", place, (it) => {
  it("that sell the same candle at once charge once, and either answers for the other", function* () {
    const bank = yield* Processor
    const env = yield* environment
    const one = yield* ServerProcess.make(env)
    // Behind one name, as behind a proxy: the signed URL is the public one.
    const two = yield* ServerProcess.make({ ...env, PUBLIC_URL: one.url })
    yield* Effect.all([one.start, two.start], { concurrency: 2 })
    const purchase = yield* prepare(one.url)
    const other = { ...purchase, url: purchase.url.replace(one.url, two.url) }
    const answers = yield* Effect.forEach([purchase, other, purchase, other], send, { concurrency: "unbounded" })
    for (const { status, text } of answers) assert.include([200, 201, 202], status, text)
    yield* settledBy(purchase)
    assert.strictEqual((yield* reconcile(other)).text, (yield* reconcile(purchase)).text)
    assert.strictEqual(bank.asked().keys, 1)
  })
})

apart("another processor account", place, (it) => {
  it("knows no earlier charge, so its answers end no attempt of the account before", function* () {
    const bank = yield* Processor
    const env = yield* environment
    const one = yield* ServerProcess.make({ ...env, SETTLE_TIMEOUT_SECONDS: patientSeconds(5) })
    yield* one.start
    const purchase = yield* prepare(one.url)
    bank.arm("dropAfter")
    assert.strictEqual((yield* send(purchase)).status, 202)
    assert.strictEqual(bank.taken().length, 1)
    yield* bank.calm
    yield* one.kill
    const other = yield* CardProcessor.make()
    const changed = { CARD_API_URL: other.url, CARD_PROFILE_ID: "profile_of_another_account" }
    const two = yield* ServerProcess.make({ ...env, ...changed, PUBLIC_URL: one.url })
    yield* two.start
    const told = yield* reconcile({ ...purchase, url: purchase.url.replace(one.url, two.url) })
    assert.strictEqual(told.status, 202, told.text)
    assert.strictEqual(other.asked().charges, 0)
    yield* two.kill
    yield* one.start
    yield* settledBy(purchase)
  })
})
