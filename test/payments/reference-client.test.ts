/** The unchanged reference client pays the route, and a lost answer never costs a second signature. */
import { assert, layer } from "@effect/vitest"
import { ExactEvmScheme } from "@x402/evm"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { layer as world, newCommitment, newKey, newPayer, post, World } from "../lab/Fixture.ts"

/** The client as its manual says, with its signatures counted and its answers lost on demand. */
const client = (account: PrivateKeyAccount, lose: () => boolean = () => false) => {
  const counted = { signatures: 0 }
  const signer: PrivateKeyAccount = {
    ...account,
    signTypedData: (message) => {
      counted.signatures += 1
      return account.signTypedData(message)
    },
  }
  const unreliable: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    if (response.status === 201 && lose()) throw new TypeError("the answer was lost")
    return response
  }
  const pay = wrapFetchWithPaymentFromConfig(unreliable, {
    schemes: [{ network: "eip155:*", client: new ExactEvmScheme(signer) }],
  })
  return { pay, counted }
}

layer(world(), { excludeTestServices: true })("@x402/fetch", (it) => {
  it.effect("pays without being told anything about us", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const { counted, pay } = client(yield* newPayer())
      const response = yield* Effect.promise(() =>
        pay(`${url}/api/witness`, post({ commitment: newCommitment() }, { "idempotency-key": newKey() })),
      )
      const body = yield* Effect.promise(() => response.json())
      assert.strictEqual(response.status, 201)
      assert.strictEqual(counted.signatures, 1)
      const settlement = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE") ?? "")
      assert.isTrue(settlement.success)
      assert.strictEqual(settlement.transaction, body.receipt.transaction)
    }),
  )

  it.effect("called again with the same key after a lost answer, it replays unsigned", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      let lost = 0
      const { counted, pay } = client(yield* newPayer(), () => lost++ === 0)
      const request = post({ commitment: newCommitment() }, { "idempotency-key": newKey() })
      const first = yield* Effect.result(Effect.tryPromise(() => pay(`${url}/api/witness`, request)))
      assert.strictEqual(first._tag, "Failure")
      const second = yield* Effect.promise(() => pay(`${url}/api/witness`, request))
      assert.strictEqual(second.status, 200)
      assert.strictEqual(second.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(counted.signatures, 1)
    }),
  )
})
