/** The stock facilitator on a real chain. `/work` settles a list by itself: its speed with no HTTP between the payments. */
import { nonceManager, privateKeyToAccount } from "viem/accounts"
import { json, program } from "../../lab/proxy/HttpServer.ts"
import { clientOf, stockFacilitator } from "../../lab/proxy/StockFacilitator.ts"
import { inFlight, work } from "../Load.ts"

type Asked = { readonly paymentPayload: never; readonly paymentRequirements: never }

const { KEY = "", RPC_URL = "" } = process.env
const account = privateKeyToAccount(`0x${KEY.slice(2)}`, { nonceManager })
const facilitator = stockFacilitator("eip155:84532", clientOf(account, RPC_URL))

const verify = ({ paymentPayload, paymentRequirements }: Asked) =>
  facilitator.verify(paymentPayload, paymentRequirements)
const settle = ({ paymentPayload, paymentRequirements }: Asked) =>
  facilitator.settle(paymentPayload, paymentRequirements)

const both = async (asked: Asked) => {
  const { invalidReason, isValid } = await verify(asked)
  if (!isValid) throw new Error(`not valid: ${invalidReason}`)
  const { errorReason, success } = await settle(asked)
  if (!success) throw new Error(`not settled: ${errorReason}`)
}

const all = async (list: ReadonlyArray<Asked>) => ({
  settled: await work(list.length, inFlight, async (index) => {
    const one = list[index]
    if (one !== undefined) await both(one)
  }),
})

const routes: Readonly<Record<string, (body: string) => unknown>> = {
  "/supported": () => facilitator.getSupported(),
  "/verify": (body) => verify(JSON.parse(body)),
  "/settle": (body) => settle(JSON.parse(body)),
  "/work": (body) => all(JSON.parse(body)),
}
await program(async (path, body) => json(await routes[path]?.(body)))
