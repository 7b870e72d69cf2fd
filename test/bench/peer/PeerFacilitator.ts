/** The stock facilitator on a real chain. It settles a list at once: its speed with no HTTP between the payments. */
import { nonceManager, privateKeyToAccount } from "viem/accounts"
import { json, program } from "../../lab/proxy/HttpServer.ts"
import { clientOf, stockFacilitator } from "../../lab/proxy/StockFacilitator.ts"
import { inFlight, work } from "../Load.ts"

type Asked = { readonly paymentPayload: never; readonly paymentRequirements: never }

const { KEY = "", RPC_URL = "" } = process.env
const account = privateKeyToAccount(`0x${KEY.slice(2)}`, { nonceManager })
const facilitator = stockFacilitator("eip155:84532", clientOf(account, RPC_URL))

const both = async ({ paymentPayload, paymentRequirements }: Asked) => {
  const { invalidReason, isValid } = await facilitator.verify(paymentPayload, paymentRequirements)
  if (!isValid) throw new Error(`not valid: ${invalidReason}`)
  const { errorReason, success } = await facilitator.settle(paymentPayload, paymentRequirements)
  if (!success) throw new Error(`not settled: ${errorReason}`)
}

await program(async (_, body) => {
  const list: ReadonlyArray<Asked> = JSON.parse(body)
  return json({ settled: await work(list.length, inFlight, (index) => both(list[index] as Asked)) })
})
