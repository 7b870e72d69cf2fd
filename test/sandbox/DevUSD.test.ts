// The play token refuses what USDC refuses, in USDC's words, and pays what USDC pays.
import { Effect } from "effect"
import {
  type Hex,
  concat,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  parseSignature,
  serializeSignature,
  toHex,
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { order, price, setup, types } from "./Token.ts"
import { events } from "../lab/TransferLogs.ts"
import { assert, assertEach, suite } from "../lab/Suites.ts"

suite("DevUSD", LocalChain.layer({ network: "eip155:84532" }), (it) => {
  it("has the names of USDC on Base Sepolia", function* () {
    const { read } = yield* setup
    assert.deepStrictEqual(yield* Effect.forEach(["name", "symbol", "version", "decimals"], (field) => read(field)), [
      "USDC",
      "USDC",
      "2",
      6,
    ])
    assert.deepStrictEqual(
      yield* Effect.forEach(
        [
          "TRANSFER_WITH_AUTHORIZATION_TYPEHASH",
          "RECEIVE_WITH_AUTHORIZATION_TYPEHASH",
          "CANCEL_AUTHORIZATION_TYPEHASH",
        ],
        (field) => read(field),
      ),
      [
        "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267",
        "0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8",
        "0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429",
      ],
    )
  })

  it("pays by v, r, s and by bytes, and emits AuthorizationUsed before Transfer", function* () {
    const t = yield* setup
    const before = yield* t.read("balanceOf", [t.chain.payTo])
    const first = t.authorize()
    const receipt = yield* t.call("transferWithAuthorization", [
      ...t.argumentsOf(first),
      ...t.split(yield* t.sign(first)),
    ])
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

  it("rejects a replay, a late and an early authorization, and more than the balance", function* () {
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

  it("rejects a signature of another wallet, and a malleable, short or meaningless one", function* () {
    const t = yield* setup
    const other = privateKeyToAccount(generatePrivateKey())
    const a = t.authorize()
    yield* t.refused(
      "FiatTokenV2: invalid signature",
      t.redeem(a, yield* t.sign(a, "TransferWithAuthorization", other)),
    )
    const good = parseSignature(yield* t.sign(a))
    const twin = serializeSignature({
      r: good.r,
      s: numberToHex(order - hexToBigInt(good.s), { size: 32 }),
      yParity: good.yParity === 0 ? 1 : 0,
    })
    yield* t.refused("ECRecover: invalid signature 's' value", t.redeem(a, twin))
    yield* t.refused("ECRecover: invalid signature length", t.redeem(a, concat([good.r, good.s])))
    yield* t.refused(
      "ECRecover: invalid signature 'v' value",
      t.redeem(a, concat([good.r, good.s, numberToHex(good.yParity)])),
    )
    yield* t.refused("ECRecover: invalid signature", t.redeem(a, concat([pad("0x0"), good.s, numberToHex(27)])))
    assert.strictEqual(yield* t.read("authorizationState", [a.from, a.nonce]), false)
  })

  it("cancels by both forms, once", function* () {
    const t = yield* setup
    for (const form of ["split", "bytes"] as const) {
      const a = t.authorize()
      const message = { authorizer: a.from, nonce: a.nonce }
      const signature = yield* Effect.promise(() =>
        t.buyer.signTypedData({
          domain: t.domain,
          types,
          primaryType: "CancelAuthorization",
          message,
        }),
      )
      const cancel = t.call("cancelAuthorization", [
        a.from,
        a.nonce,
        ...(form === "split" ? t.split(signature) : [signature]),
      ])
      const receipt = yield* cancel
      const logs = yield* Effect.promise(() =>
        t.client.getContractEvents({
          address: t.chain.asset,
          abi: events,
          eventName: "AuthorizationCanceled",
          args: { authorizer: a.from, nonce: a.nonce },
          fromBlock: 0n,
        }),
      )
      assertEach(logs, (log) => log.transactionHash, [receipt.transactionHash])
      yield* t.refused("FiatTokenV2: authorization is used or canceled", t.redeem(a))
      yield* t.refused("FiatTokenV2: authorization is used or canceled", cancel)
    }
  })

  it("lets only the payee receive", function* () {
    const t = yield* setup
    const a = { ...t.authorize(), to: t.relayer.address as Hex }
    const signature = yield* t.sign(a, "ReceiveWithAuthorization")
    const args = [...t.argumentsOf(a), signature]
    yield* t.refused("FiatTokenV2: caller must be the payee", t.call("receiveWithAuthorization", args, t.chain.payTo))
    yield* t.refused("FiatTokenV2: invalid signature", t.redeem(a, signature))
    yield* t.call("receiveWithAuthorization", args)
    const b = { ...t.authorize(), to: t.relayer.address as Hex }
    yield* t.call("receiveWithAuthorization", [
      ...t.argumentsOf(b),
      ...t.split(yield* t.sign(b, "ReceiveWithAuthorization")),
    ])
    assert.strictEqual(yield* t.read("balanceOf", [t.buyer.address]), price)
  })
})

suite("DevUSD on chain 8453", LocalChain.layer({ network: "eip155:8453" }), (it) => {
  it("is called USD Coin", function* () {
    const { read, chain } = yield* setup
    assert.strictEqual(yield* read("name"), "USD Coin")
    assert.strictEqual(chain.asset, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
  })
})
