/** Cards on servers that are processes of their own: killed at any point, or two at once, one charge; half configured, none. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { onServer } from "../lab/server/Live.ts"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import { cardBooks, prepareByCard, processor, Processor } from "../lab/buyer/Cards.ts"
import { type Paid, reconcile, send } from "../lab/buyer/Purchase.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { until } from "../lab/Eventually.ts"
import { proxied } from "../lab/server/ServerProcess.ts"

const cards = (url: string) => ({
  CARD_PROFILE_ID: CardProcessor.profile,
  CARD_SECRET_KEY: CardProcessor.secretKey,
  CARD_API_URL: url,
})

const environment = Effect.gen(function* () {
  return {
    ...(yield* proxied),
    RPC_URL: (yield* LocalChain).rpcUrl,
    ...cards((yield* Processor).url),
    TEST_SETTLE_SECONDS: "20",
    TEST_SWEEP_SECONDS: "3600",
    LOG_LEVEL: "Info",
  }
})

const withCards = onServer(Layer.merge(stage, processor))

const settledBy = Effect.fnUntraced(function* (purchase: Paid) {
  yield* cardBooks(purchase).pipe(until("it was never settled", (row) => row?.state === "settled"))
  assert.deepInclude(yield* cardBooks(purchase), { taken: 1, acts: 1, candles: 1 })
  assert.deepStrictEqual((yield* Processor).taken().length, 1)
  const again = yield* send(purchase)
  assert.deepStrictEqual([again.status, again.text], [200, (yield* reconcile(purchase)).text])
})

describe.concurrent("a charge of a server killed", () => {
  for (const [when, fault] of [
    ["with the charge in flight", "holdBefore"],
    ["with the charge made and its response held back", "holdAfter"],
  ] as const) {
    withCards(`${when} is concluded by the server's next start`, function* () {
      const bank = yield* Processor
      const server = yield* ServerProcess.make(yield* environment)
      yield* server.start
      const purchase = yield* prepareByCard(server.url)
      const trap = bank.arm(fault)
      yield* Effect.forkScoped(Effect.exit(send(purchase)))
      yield* trap.arrived
      yield* server.kill
      yield* bank.calm
      yield* trap.discard
      yield* server.start
      yield* settledBy(purchase)
      assert.strictEqual(bank.requests().keys, 1)
    })
  }
})
