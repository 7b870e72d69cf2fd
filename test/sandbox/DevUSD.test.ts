// The play token refuses what USDC refuses, in USDC's words, and pays what USDC pays.
import { assert, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import {
  type Abi,
  type Hex,
  concat,
  encodeEventTopics,
  encodeFunctionData,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  parseSignature,
  serializeSignature,
  toHex,
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import DevUSD from "../../src/sandbox/contracts/DevUSD.json" with { type: "json" }
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { cancelTypes } from "../lab/buyer/Payment.ts"
import { chainClient } from "../lab/Chain.ts"
import { events } from "../lab/TransferLogs.ts"
import { assertEach, valuesOf } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

const types = {
  ...transferTypes,
  ReceiveWithAuthorization: transferTypes.TransferWithAuthorization,
  ...cancelTypes,
} as const
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const price = 10_000n
const abi = DevUSD.abi as Abi

/** A buyer with three prices, and what can be asked of the token. */
const setup = Effect.gen(function* () {
  const chain = yield* LocalChain
  const client = chainClient(chain.rpcUrl)
  const relayer = privateKeyToAccount(Redacted.value(chain.relayerKey))
  const buyer = privateKeyToAccount(generatePrivateKey())
  const domain = { name: "USDC", version: "2", chainId: chain.chainId, verifyingContract: chain.asset }
  let counter = BigInt(buyer.address)
  const authorize = (changes: { to?: Hex; value?: bigint; validAfter?: bigint; validBefore?: bigint } = {}) => ({
    from: buyer.address as Hex,
    to: chain.payTo,
    value: price,
    validAfter: 0n,
    validBefore: 2n ** 48n,
    nonce: keccak256(toHex(counter++)),
    ...changes,
  })
  type Authorization = ReturnType<typeof authorize>
  const sign = (
    message: Authorization,
    primaryType: "TransferWithAuthorization" | "ReceiveWithAuthorization" = "TransferWithAuthorization",
    signer = buyer,
  ) => Effect.promise(() => signer.signTypedData({ domain, types, primaryType, message }))
  const argumentsOf = (a: Authorization) => [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce] as const
  const split = (signature: Hex) => {
    const { r, s, yParity } = parseSignature(signature)
    return [27 + yParity, r, s] as const
  }
  // Simulated first: a mined revert carries no reason, an eth_call does.
  const call = Effect.fnUntraced(function* (
    functionName: string,
    args: ReadonlyArray<unknown>,
    account: Hex = relayer.address,
  ) {
    yield* Effect.tryPromise({
      try: () => client.simulateContract({ address: chain.asset, abi, functionName, args, account }),
      catch: (cause) => /reverted with the following reason:\n(.*)/.exec(String(cause))?.[1] ?? String(cause),
    })
    const data = encodeFunctionData({ abi, functionName, args })
    const hash = yield* Effect.promise(() =>
      client.sendTransaction({ account: relayer, to: chain.asset, data, chain: null, gas: 300_000n }),
    )
    return yield* Effect.promise(() => client.waitForTransactionReceipt({ hash }))
  })
  const read = (functionName: string, args: ReadonlyArray<unknown> = []) =>
    Effect.promise(() => client.readContract({ address: chain.asset, abi, functionName, args }))
  const redeem = Effect.fnUntraced(function* (a: Authorization, signature?: Hex) {
    return yield* call("transferWithAuthorization", [...argumentsOf(a), signature ?? (yield* sign(a))])
  })
  const refused = (expected: string, attempt: Effect.Effect<unknown, string>) =>
    Effect.map(Effect.flip(attempt), (reason) => assert.strictEqual(reason, expected))
  yield* chain.fund(buyer.address, price * 3n)
  return { chain, client, relayer, buyer, domain, authorize, sign, argumentsOf, split, call, read, redeem, refused }
})

layer(LocalChain.layer({ network: "eip155:84532" }), realClock)("DevUSD", (it) => {
  it.effect("pays by v, r, s and by bytes, and emits AuthorizationUsed before Transfer", function* () {
    const t = yield* setup
    const before = yield* t.read("balanceOf", [t.chain.payTo])
    const first = t.authorize()
    const signature = yield* t.sign(first)
    const receipt = yield* t.call("transferWithAuthorization", [...t.argumentsOf(first), ...t.split(signature)])
    yield* t.redeem(t.authorize())
    assertEach(receipt.logs, (log) => log.topics[0], [
      "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
      keccak256(toHex("Transfer(address,address,uint256)")),
    ])
    assert.deepStrictEqual(receipt.logs[0]?.topics.slice(1), [pad(t.buyer.address).toLowerCase() as Hex, first.nonce])
    assert.strictEqual(yield* t.read("authorizationState", [first.from, first.nonce]), true)
    assert.strictEqual(yield* t.read("balanceOf", [t.buyer.address]), price)
    assert.strictEqual(yield* t.read("balanceOf", [t.chain.payTo]), BigInt(String(before)) + price * 2n)
  })

  it.effect("rejects a replay, a late and an early authorization, and more than the balance", function* () {
    const t = yield* setup
    const once = t.authorize()
    yield* t.redeem(once)
    yield* t.refused("FiatTokenV2: authorization is used or canceled", t.redeem(once))
    // Both bounds are exclusive.
    const now = (yield* Effect.promise(() => t.client.getBlock())).timestamp
    yield* t.refused("FiatTokenV2: authorization is expired", t.redeem(t.authorize({ validBefore: now })))
    yield* t.refused("FiatTokenV2: authorization is not yet valid", t.redeem(t.authorize({ validAfter: now + 1000n })))
    yield* t.refused("ERC20: transfer amount exceeds balance", t.redeem(t.authorize({ value: price * 3n })))
  })

  it.effect("rejects a signature of another wallet, and a malleable, short or meaningless one", function* () {
    const t = yield* setup
    const a = t.authorize()
    const good = parseSignature(yield* t.sign(a))
    const twin = serializeSignature({
      r: good.r,
      s: numberToHex(order - hexToBigInt(good.s), { size: 32 }),
      yParity: good.yParity === 0 ? 1 : 0,
    })
    const stranger = privateKeyToAccount(generatePrivateKey())
    for (const [reason, signature] of [
      ["FiatTokenV2: invalid signature", yield* t.sign(a, "TransferWithAuthorization", stranger)],
      ["FiatTokenV2: invalid signature", yield* t.sign(a, "ReceiveWithAuthorization")],
      ["ECRecover: invalid signature 's' value", twin],
      ["ECRecover: invalid signature length", concat([good.r, good.s])],
      ["ECRecover: invalid signature 'v' value", concat([good.r, good.s, numberToHex(good.yParity, { size: 1 })])],
      ["ECRecover: invalid signature", concat([pad("0x0"), good.s, numberToHex(27)])],
    ] as const)
      yield* t.refused(reason, t.redeem(a, signature))
    assert.strictEqual(yield* t.read("authorizationState", [a.from, a.nonce]), false)
  })

  it.effect.each(["split", "bytes"] as const)("cancels once by %s", function* (form) {
    const t = yield* setup
    const a = t.authorize()
    const message = { authorizer: a.from, nonce: a.nonce }
    const signature = yield* Effect.promise(() =>
      t.buyer.signTypedData({ domain: t.domain, types, primaryType: "CancelAuthorization", message }),
    )
    const signed = form === "split" ? t.split(signature) : [signature]
    const cancel = t.call("cancelAuthorization", [a.from, a.nonce, ...signed])
    const topics = encodeEventTopics({ abi: events, eventName: "AuthorizationCanceled", args: message })
    assert.deepEqual<object>(valuesOf((yield* cancel).logs, "topics"), [topics])
    yield* t.refused("FiatTokenV2: authorization is used or canceled", t.redeem(a))
    yield* t.refused("FiatTokenV2: authorization is used or canceled", cancel)
  })
})

layer(LocalChain.layer({ network: "eip155:8453" }), realClock)("DevUSD on chain 8453", (it) => {
  it.effect("is called USD Coin", function* () {
    const { read, chain } = yield* setup
    assert.strictEqual(yield* read("name"), "USD Coin")
    assert.strictEqual(chain.asset, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
  })
})
