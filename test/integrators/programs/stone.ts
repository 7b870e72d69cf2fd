import { createHash, randomUUID } from "node:crypto"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import createClient from "openapi-fetch"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { paths } from "./altar.ts"

const baseUrl = process.env.ALTAR ?? "http://127.0.0.1:3000"
const wallet = privateKeyToAccount(generatePrivateKey())
await fetch(`${baseUrl}/sandbox/fund`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ address: wallet.address }), // ten play dollars
})

const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: "eip155:*", client: new ExactEvmScheme(wallet) }],
})
const altar = createClient<paths>({ baseUrl, fetch: pay })

const salt = randomUUID()
const text = "The heron will return by May."
const commitment = createHash("sha256").update(`${salt}\0${text}`).digest("hex")

const set = await altar.POST("/api/witness", {
  params: { header: { "Idempotency-Key": `stone-${randomUUID()}` } }, // store it: a retry must send the same key
  body: { commitment, kind: "prediction" },
})
if (set.error) throw new Error(set.error.message) // every refusal says what to do, and what was charged
if ("reconcile" in set.data) throw new Error(set.data.message) // 202: not known yet, do not pay again
console.log(set.data.record.sequence, set.data.permalink, set.data.receipt.transaction)

const params = { path: { witnessId: set.data.record.id } }
const opened = await altar.POST("/api/witness/{witnessId}/reveal", { params, body: { salt, text } })
const shown = opened.data?.stone.reveal // words and salt, both public from now on
console.log(shown?.text ?? opened.error?.message)
