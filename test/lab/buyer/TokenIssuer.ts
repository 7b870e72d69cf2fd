/** The issuer of the token, who pauses all transfers and blocks wallets. */
import { parseAbi } from "viem"
import { onChain } from "../Chain.ts"

const abi = parseAbi([
  "function pause()",
  "function unpause()",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
])

type Order = readonly ["pause" | "unpause"] | readonly ["blacklist" | "unBlacklist", `0x${string}`]

export const order = ([functionName, ...args]: Order) =>
  onChain(async (client, { asset }) => {
    const [account] = await client.getAddresses()
    const call = { address: asset, abi, functionName, args, account, chain: null } as never
    await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
  })
