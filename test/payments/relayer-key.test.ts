/** A change of the relayer's key: the old key follows and replaces its own transactions, and the new one sends the rest. */
import { Duration, Effect, Redacted, Schedule } from "effect"
import { parseEther } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { patience } from "../lab/Patience.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { layer as world } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, suite } from "../lab/Suites.ts"

const waits = Duration.millis(patience(1))

suite("two relayer keys side by side", world({ patience: waits }), (it) => {
  it("conclude a payment of the old key, and send new payments by the new key", function* ({ sql, url }) {
    const { relayerKey } = yield* LocalChain
    const key = generatePrivateKey()
    const [old, now] = [privateKeyToAddress(Redacted.value(relayerKey)), privateKeyToAddress(key)]
    const sentBy = (address: typeof now) => Purchase.onChain((client) => client.getTransactionCount({ address }))
    yield* Purchase.onChain((client) => client.setBalance({ address: now, value: parseEther("1") }))

    const purchase = yield* Purchase.prepare(url)
    yield* Purchase.automine(false)
    Purchase.assertPending(url, purchase, yield* Purchase.send(url, purchase))
    const before = yield* sentBy(old)

    // The next server has the new key, and knows the old one.
    const second = yield* anotherServer({
      patience: waits,
      settlement: { _tag: "Relayer", privateKey: Redacted.make(key), previousKey: relayerKey },
    })
    const broadcast = Effect.map(sql`SELECT hash, nonce FROM relayer_broadcasts`, ([row]) => Object(row))
    const first = yield* broadcast
    const reconciled = Purchase.reconcile(second, purchase)
    const again = Schedule.spaced("200 millis")
    // No block takes it: in its own place, by its own key, another one is offered more for.
    const replaced = yield* Effect.andThen(reconciled, broadcast).pipe(
      Effect.repeat({ until: ({ hash }) => hash !== first.hash, schedule: again }),
      Effect.timeout(patience(60)),
    )
    assert.strictEqual(replaced.nonce, first.nonce)
    yield* Purchase.onChain(async (client) => {
      await client.mine({ blocks: 1 })
      await client.setAutomine(true)
    })
    yield* reconciled.pipe(
      Effect.repeat({ until: ({ status }) => status === 200, schedule: again }),
      Effect.timeout(patience(60)),
    )
    assert.deepStrictEqual([yield* sentBy(old), yield* sentBy(now)], [before + 1, 0])

    const next = yield* Purchase.prepare(url)
    assert.strictEqual((yield* Purchase.send(second, next)).status, 201)
    assert.deepStrictEqual([yield* sentBy(old), yield* sentBy(now)], [before + 1, 1])
  })
})
