/** A facilitator and a node of the network that answer at once, so that a benchmark measures the server and nothing behind it. */
import { randomBytes } from "node:crypto"
import { type Hex, numberToHex } from "viem"
import { usdc } from "../../../schema/payments/Usdc.ts"
import type { Payment } from "../../lab/buyer/Payment.ts"
import { json, program } from "../../lab/proxy/HttpServer.ts"
import { logsOf } from "../../lab/TransferLogs.ts"

interface Asked {
  readonly paymentPayload: Payment
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params?: readonly [Hex | { readonly data?: Hex }, ...ReadonlyArray<unknown>]
}

const network = "eip155:84532"
const { asset } = usdc[network]
const authorizationStateSelector = "0xe94a0102"
const balanceOfSelector = "0x70a08231"

/** The logs of every transaction the facilitator made up, for the node to show. */
const settled = new Map<string, ReadonlyArray<object>>()

const word = (value: bigint) => numberToHex(value, { size: 32 })

const settle = ({ paymentPayload }: Asked) => {
  const { from, nonce, to, value } = paymentPayload.payload.authorization
  const transaction = `0x${randomBytes(32).toString("hex")}`
  const mined = { transactionHash: transaction, blockNumber: "0x64", blockHash: word(100n) }
  const { moved, used } = logsOf({ asset, from, to, nonce, value: BigInt(value) })
  settled.set(transaction, [
    { ...mined, logIndex: "0x0", ...used },
    { ...mined, logIndex: "0x1", ...moved },
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
  const logs = settled.get(hash)
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
    const { paymentPayload }: Asked = JSON.parse(body)
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
