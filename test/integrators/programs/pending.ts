/** An agent on axios whose payment stays open: the result of the reference client's interceptor for the 202. */
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm"
import { create } from "axios"
import { privateKeyToAccount } from "viem/accounts"
import { baseUrl, newKey, seal } from "./Setting.ts"

const wallet = privateKeyToAccount(`0x${(process.argv[3] ?? "").slice(2)}`)
const paying = wrapAxiosWithPaymentFromConfig(create({ baseURL: baseUrl }), {
  schemes: [{ network: "eip155:*", client: new ExactEvmScheme(wallet) }],
})

const key = newKey()
const { commitment } = seal("The ferry was late.")
const answer = await paying.post("/api/witness", { commitment }, { headers: { "Idempotency-Key": key } })
process.stdout.write(
  JSON.stringify({ key, status: answer.status, code: answer.data.code, header: answer.headers["payment-response"] }),
)
