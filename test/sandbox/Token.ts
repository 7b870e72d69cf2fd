/** The play token as its tests meet it: signed authorizations, calls that are simulated first, and reads. */
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  type Abi,
  type Hex,
  createTestClient,
  encodeFunctionData,
  http,
  keccak256,
  parseAbi,
  parseSignature,
  publicActions,
  toHex,
  walletActions,
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import DevUSD from "../../src/sandbox/contracts/DevUSD.json" with { type: "json" }
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { receiptBy } from "../lab/Chain.ts"

const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const
/** Typed data of the token. */
export const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

/** The order of the curve. */
export const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
export const price = 10_000n
export const events = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
])

/** A buyer with three prices, and what can be asked of the token. */
export const setup = Effect.gen(function* () {
  const chain = yield* LocalChain
  const client = createTestClient({
    mode: "anvil",
    transport: http(chain.rpcUrl, { retryCount: 0 }),
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend((one) => ({ waitForTransactionReceipt: receiptBy(one) }))
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
