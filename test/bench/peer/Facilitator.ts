/** The stock facilitator on a real chain. `/work` settles a list by itself: its speed with no HTTP between the payments. */
import { createServer } from "node:http"
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { createWalletClient, http, publicActions } from "viem"
import { nonceManager, privateKeyToAccount } from "viem/accounts"
import { inFlight, work } from "../Load.ts"

type Asked = { readonly paymentPayload: never; readonly paymentRequirements: never }

const key = process.env["KEY"] ?? ""
const account = privateKeyToAccount(`0x${key.slice(2)}`, { nonceManager })
const client = createWalletClient({ account, transport: http(process.env["RPC_URL"]), pollingInterval: 20 }).extend(
  publicActions,
)
const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: client.getCode,
  readContract: (call) => client.readContract(call),
  verifyTypedData: (message) => client.verifyTypedData(message as never),
  sendTransaction: (call) => client.sendTransaction({ ...call, chain: null }),
  waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
  writeContract: (call) => client.writeContract({ ...call, chain: null } as never),
})
const facilitator = new x402Facilitator().register("eip155:84532", new ExactEvmScheme(signer))

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

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (body += chunk))
  request.on("end", async () => {
    try {
      const answer = JSON.stringify(await routes[request.url ?? ""]?.(body))
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) })
      response.end(answer)
    } catch (cause) {
      response.writeHead(500).end(String(cause))
    }
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) console.log(`Listening on http://127.0.0.1:${address.port}`)
})
process.once("SIGTERM", () => process.exit(0))
