/** Many payments for the relayer, and what it sent. */
import { Effect, Redacted } from "effect"
import { parseGwei } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import * as Purchase from "./Purchase.ts"

export { eventually } from "../Eventually.ts"

/** Its address. */
export const relayer = Effect.map(
  LocalChain,
  ({ relayerKey }) => privateKeyToAccount(Redacted.value(relayerKey)).address,
)

/** How many transactions of the relayer are in blocks. */
export const relayed = Effect.flatMap(relayer, (address) =>
  Purchase.onChain((client) => client.getTransactionCount({ address })),
)

/** So many payments of wallets that hold no more. */
export const prepareMany = (url: string, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => Purchase.prepare(url, Purchase.price), { concurrency: 5 })

/** From now on a block costs more than was offered. */
export const raiseFees = Purchase.onChain(async (client) => {
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei("500") })
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
})
