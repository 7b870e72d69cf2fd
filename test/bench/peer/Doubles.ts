/** A facilitator and a node of the network that answer at once, so that a benchmark measures the server and nothing behind it. */
import { randomBytes } from "node:crypto"
import { pad, toEventSelector } from "viem"
import { usdc } from "../../../src/payments/PaymentTerms.ts"
import { json, program } from "../../lab/proxy/HttpServer.ts"

type Hex = `0x${string}`

interface SettleBody {
  readonly paymentPayload: {
    readonly payload: {
      readonly authorization: { readonly from: Hex; readonly to: Hex; readonly value: string; readonly nonce: Hex }
    }
  }
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params?: readonly [Hex | { readonly data?: Hex }, ...ReadonlyArray<unknown>]
}

const network = "eip155:84532"
const { asset } = usdc[network]
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
const authorizationStateSelector = "0xe94a0102"
const balanceOfSelector = "0x70a08231"

/** The logs of every transaction the facilitator made up, for the node to show. */
const logsOf = new Map<string, ReadonlyArray<object>>()

const authorizationUsed = toEventSelector("AuthorizationUsed(address,bytes32)")
const addressTopic = (address: Hex) => pad(address, { size: 32 }).toLowerCase()

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`

const settle = ({ paymentPayload }: SettleBody) => {
  const { from, nonce, to, value } = paymentPayload.payload.authorization
  const transaction = `0x${randomBytes(32).toString("hex")}`
  const mined = { address: asset, transactionHash: transaction, blockNumber: "0x64", blockHash: word(100n) }
  logsOf.set(transaction, [
    { ...mined, logIndex: "0x0", topics: [authorizationUsed, addressTopic(from), nonce.toLowerCase()], data: "0x" },
    {
      ...mined,
      logIndex: "0x1",
      topics: [transferTopic, addressTopic(from), addressTopic(to)],
      data: word(BigInt(value)),
    },
  ])
  return { success: true, transaction, network, payer: from }
}

const supported = { kinds: [{ x402Version: 2, scheme: "exact", network }], extensions: [], signers: {} }

const block = () => ({
  number: "0x64",
  timestamp: `0x${Math.floor(Date.now() / 1000).toString(16)}`,
  hash: word(100n),
  parentHash: word(99n),
  baseFeePerGas: "0x1",
  transactions: [],
})

const receipt = (hash: string) => {
  const logs = logsOf.get(hash)
  return logs === undefined
    ? null
    : { status: "0x1", transactionHash: hash, blockNumber: "0x64", blockHash: word(100n), logs }
}

const answer = ({ method, params }: Call): unknown => {
  const first = params?.[0]
  switch (method) {
    case "eth_chainId":
      return "0x14a34"
    case "eth_blockNumber":
      return "0x64"
    case "eth_getBlockByNumber":
      return block()
    case "eth_call": {
      const data = typeof first === "object" ? first.data : undefined
      if (data?.startsWith(balanceOfSelector) === true) return word(10n ** 15n)
      return data?.startsWith(authorizationStateSelector) === true ? word(0n) : "0x"
    }
    case "eth_getTransactionReceipt":
      return typeof first === "string" ? receipt(first) : null
    case "eth_getLogs":
      return []
    default:
      throw new Error(`the double knows no ${method}`)
  }
}

const one = (call: Call) => ({ jsonrpc: "2.0", id: call.id, result: answer(call) })

const routes: Readonly<Record<string, (body: string) => unknown>> = {
  "/supported": () => supported,
  "/verify": (body) => {
    const { paymentPayload }: SettleBody = JSON.parse(body)
    return { isValid: true, payer: paymentPayload.payload.authorization.from }
  },
  "/settle": (body) => settle(JSON.parse(body)),
  "/rpc": (body) => {
    const calls: Call | ReadonlyArray<Call> = JSON.parse(body)
    return "length" in calls ? calls.map(one) : one(calls)
  },
}

await program(async (path, body) => {
  const route = routes[path]
  return route === undefined ? json({}, 404) : json(route(body))
})
