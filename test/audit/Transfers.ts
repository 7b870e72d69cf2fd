/** The transfers on the chain: every transfer to the address that is paid, and the authorization each was made by. */
import { createPublicClient, decodeEventLog, type Hex, http, isAddressEqual, parseAbi, toEventSelector } from "viem"

export const events = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
])

/** A transfer by a signed authorization; texts are in lower case. */
export interface Transfer {
  readonly transaction: string
  readonly block: bigint
  readonly payer: string
  readonly nonce: string
  readonly amount: bigint
}

export type ChainView = Awaited<ReturnType<typeof readChain>>

/** Blocks of one question: few enough for a node that limits them. */
const span = 1_000n

export const readChain = async (rpcUrl: string, token: string, payTo: string) => {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: 30_000, retryCount: 5 }) })
  const address = token as Hex
  const [chainId, newest, final] = await Promise.all([
    client.getChainId(),
    client.getBlockNumber({ cacheTime: 0 }),
    client.getBlock({ blockTag: "finalized" }),
  ])
  const topics = [events.map((event) => toEventSelector(event))]
  const transfers: Array<Transfer> = []
  /** How many transfers no authorization made: gifts, which buy nothing. */
  let gifts = 0
  for (let from = 0n; from <= newest; from += span) {
    const to = from + span - 1n > newest ? newest : from + span - 1n
    const logs = await client.request({
      method: "eth_getLogs",
      params: [{ address, topics, fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }],
    })
    let before = { transaction: "", index: -1, payer: "", nonce: "" }
    for (const { blockNumber, data, logIndex, topics: found, transactionHash } of logs) {
      if (blockNumber === null || logIndex === null || transactionHash === null) continue
      const event = decodeEventLog({ abi: events, data, topics: found as [Hex, ...Hex[]] })
      const transaction = transactionHash.toLowerCase()
      const index = Number(logIndex)
      if (event.eventName === "AuthorizationUsed") {
        const { authorizer, nonce } = event.args
        before = { transaction, index, payer: authorizer.toLowerCase(), nonce: nonce.toLowerCase() }
        continue
      }
      const { from: payer, to: paid, value } = event.args
      const isAuthorized =
        before.transaction === transaction && before.index === index - 1 && before.payer === payer.toLowerCase()
      const transfer = { transaction, block: BigInt(blockNumber), nonce: before.nonce, amount: value }
      // A transfer of nothing is no payment, also by an authorization.
      if (value === 0n || !isAddressEqual(paid, payTo as Hex)) continue
      if (isAuthorized) transfers.push({ ...transfer, payer: before.payer })
      else gifts += 1
    }
  }
  const times = new Map<bigint, Promise<number>>()
  /** When a block was made, seconds since 1970. */
  const timeOf = (block: bigint) => {
    const known = times.get(block) ?? client.getBlock({ blockNumber: block }).then((one) => Number(one.timestamp))
    times.set(block, known)
    return known
  }
  const senderOf = async (hash: string) => (await client.getTransaction({ hash: hash as Hex })).from.toLowerCase()
  return { chainId, transfers, gifts, final, senderOf, timeOf }
}

/** The identity of an authorization, which can be used once. */
export const authorizationOf = (of: { readonly payer: string; readonly nonce: string }): string =>
  `${of.payer}:${of.nonce}`
