/** A forged payment costs us no call to the node; a wallet with a signature rule of its own is still asked. */
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { NodeProxy } from "../lab/proxy/Node.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { ask, newCommitment, newKey, newPayer, post } from "../lab/Fixture.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { apart, assert } from "../lab/Suites.ts"

/** Every method that the node is asked for from now on. */
const overhear = (rpc: NodeProxy, methods: ReadonlyArray<string>) => {
  const asked: Array<string> = []
  for (const method of methods)
    rpc.arm(method, "holdBefore", () => {
      asked.push(method)
      return false
    })
  return asked
}

const methods = [
  "eth_call",
  "eth_getCode",
  "eth_blockNumber",
  "eth_getLogs",
  "eth_getTransactionReceipt",
  "eth_estimateGas",
]

apart("a forged payment", proxiedServer("relayer", "20 seconds"), (it) => {
  it("in the name of one wallet asks the node once whether it has code, and nothing else", function* ({ rpc, url }) {
    const victim = yield* newPayer()
    const challenge = challengeOf(yield* ask(`${url}/api/witness`, { method: "POST" }))
    const forge = Effect.gen(function* () {
      const forger = privateKeyToAccount(generatePrivateKey())
      const payment = yield* sign(forger, challenge.accepts[0], challenge.resource, { from: victim.address })
      const headers = { "idempotency-key": newKey(), "payment-signature": encode(payment) }
      const answer = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
      assert.deepStrictEqual([answer.status, answer.json["reason"]], [402, "invalid_exact_evm_signature"], answer.text)
      assert.match(String(answer.json["message"]), /Nothing was charged\.$/u)
    })
    const asked = overhear(rpc, methods)
    yield* forge
    assert.deepStrictEqual(asked, ["eth_getCode"])
    for (let round = 0; round < 20; round++) yield* forge
    assert.deepStrictEqual(asked, ["eth_getCode"])

    const good = yield* sign(victim, challenge.accepts[0], challenge.resource)
    const headers = { "idempotency-key": newKey(), "payment-signature": encode(good) }
    const answer = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, headers))
    assert.strictEqual(answer.status, 201, "the wallet itself pays as ever")
    // A good one is let in and sent by the code of that moment, each asked for anew.
    assert.strictEqual(asked.filter((method) => method === "eth_getCode").length, 3)
  })
})
