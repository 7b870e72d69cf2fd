/** The play token as its tests meet it: signed authorizations, calls that are simulated first, and reads. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { type Abi, type Hex, encodeFunctionData, keccak256, parseSignature, toHex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import DevUSD from "../../src/sandbox/contracts/DevUSD.json" with { type: "json" }
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { cancelTypes } from "../lab/buyer/Payment.ts"
import { chainClient } from "../lab/Chain.ts"

/** Typed data of the token. */
export const types = {
  ...transferTypes,
  ReceiveWithAuthorization: transferTypes.TransferWithAuthorization,
  ...cancelTypes,
} as const

/** The order of the curve. */
export const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
export const price = 10_000n

/** A buyer with three prices, and what can be asked of the token. */
export const setup = Effect.gen(function* () {
  const chain = yield* LocalChain
  const client = chainClient(chain.rpcUrl)
  const relayer = privateKeyToAccount(Redacted.value(chain.relayerKey))
  const buyer = privateKeyToAccount(generatePrivateKey())
  const domain = {
    name: "USDC",
    version: "2",
    chainId: chain.chainId,
    verifyingContract: chain.asset,
  }
  let counter = BigInt(buyer.address)
  const authorize = (changes: Partial<{ from: Hex; value: bigint; validAfter: bigint; validBefore: bigint }> = {}) => ({
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
    const abi = DevUSD.abi as Abi
    yield* Effect.tryPromise({
      try: () => client.simulateContract({ address: chain.asset, abi, functionName, args, account }),
      catch: (cause) => /reverted with the following reason:\n(.*)/.exec(String(cause))?.[1] ?? String(cause),
    })
    const data = encodeFunctionData({ abi, functionName, args })
    const hash = yield* Effect.promise(() =>
      client.sendTransaction({
        account: relayer,
        to: chain.asset,
        data,
        chain: null,
        gas: 300_000n,
      }),
    )
    return yield* Effect.promise(() => client.waitForTransactionReceipt({ hash }))
  })
  const read = (functionName: string, args: ReadonlyArray<unknown> = []) =>
    Effect.promise(() => client.readContract({ address: chain.asset, abi: DevUSD.abi as Abi, functionName, args }))
  const redeem = Effect.fnUntraced(function* (a: Authorization, signature?: Hex) {
    return yield* call("transferWithAuthorization", [...argumentsOf(a), signature ?? (yield* sign(a))])
  })
  const refused = (expected: string, attempt: Effect.Effect<unknown, string>) =>
    Effect.map(Effect.flip(attempt), (reason) => assert.strictEqual(reason, expected))
  yield* chain.fund(buyer.address, price * 3n)
  return {
    chain,
    client,
    relayer,
    buyer,
    domain,
    authorize,
    sign,
    argumentsOf,
    split,
    call,
    read,
    redeem,
    refused,
  }
})
