/** The sandbox's own routes name its chain and give play money, and no other server has them. */
import { assert, describe, it as plain, layer } from "../lab/It.ts"
import { ConfigProvider, Effect } from "effect"
import { LimitFactor } from "../../src/limits/Limit.ts"
import { limits } from "../../src/sandbox/Sandbox.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { sandbox } from "../lab/browser/Guide.ts"
import { anotherServer, ask, newPayer, post, realClock, TestServer } from "../lab/Fixture.ts"

layer(sandbox(), realClock)("the sandbox", (it) => {
  it.effect("names its chain, its token, and where its money comes from", function* () {
    const { url } = yield* TestServer
    const { asset, chainId, network, payTo, rpcUrl } = yield* LocalChain
    const { json } = yield* ask(`${url}/sandbox`)
    const fund = `${url}/sandbox/fund`
    assert.deepStrictEqual(json, { ok: true, network, chainId, rpcUrl, asset, payTo, fund })
    assert.deepStrictEqual([network, chainId], ["eip155:84532", 84532])
    assert.strictEqual(asset, "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "the address of USDC")
  })

  it.effect("gives ten dollars, or what is asked, and nothing for a malformed request", function* () {
    const { url } = yield* TestServer
    const { address } = yield* newPayer(0n)
    const give = (body: object) => ask(`${url}/sandbox/fund`, post(body))
    const first = yield* give({ address })
    assert.deepStrictEqual([first.status, first.json["address"]], [200, address])
    assert.match(String(first.json["transaction"]), /^0x[0-9a-f]{64}$/u)
    assert.strictEqual(first.json["balanceAtomic"], "10000000")
    assert.strictEqual((yield* give({ address, amountAtomic: "5" })).json["balanceAtomic"], "10000005")
    for (const body of [
      {},
      { address: "0x1" },
      { address, amountAtomic: "-1" },
      { address, amountAtomic: 5 },
      { address, more: 1 },
    ])
      assertAnswer(yield* give(body), 400, "bad_request")
    assertAnswer(yield* give({ address, amountAtomic: "1".repeat(13) }), 400, "bad_request")
  })

  it.effect("has routes that no other server has, and no transaction that its chain does not know", function* () {
    const { url } = yield* TestServer
    for (const hash of [`0x${"ab".repeat(32)}`, "nothing"])
      assertAnswer(yield* ask(`${url}/sandbox/transactions/${hash}`), 404, "not_found")
    const elsewhere = yield* anotherServer()
    assertAnswer(yield* ask(`${elsewhere}/sandbox`), 404, "not_found")
    assertAnswer(yield* ask(`${elsewhere}/sandbox/fund`, post({})), 404, "not_found")
  })
})

describe("the limits of a sandbox", () => {
  plain.effect.each([
    ["without a setting", 1, {}],
    ["with SANDBOX_LIMITS=loose", 100, { SANDBOX_LIMITS: "loose" }],
  ] as const)("%s are the specification's times %i", ([, factor, env]) =>
    Effect.gen(function* () {
      const provider = ConfigProvider.fromEnv({ env })
      const set = yield* LimitFactor.pipe(
        Effect.provide(limits),
        Effect.provideService(ConfigProvider.ConfigProvider, provider),
      )
      assert.strictEqual(set, factor)
    }),
  )
})
