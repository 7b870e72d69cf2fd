/** An agent on axios and the reference client's interceptor: reads, is offered a price, pays, reveals, and signals in a room. */
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm"
import { create } from "axios"
import { privateKeyToAccount } from "viem/accounts"
import { baseUrl, must, newKey, seal, tell } from "./Setting.ts"

const wallet = privateKeyToAccount(`0x${(process.argv[3] ?? "").slice(2)}`)
const free = create({ baseURL: baseUrl, validateStatus: () => true })
const paying = wrapAxiosWithPaymentFromConfig(create({ baseURL: baseUrl }), {
  schemes: [{ network: "eip155:*", client: new ExactEvmScheme(wallet) }],
})

const pixels = (await free.get("/api/pixels")).data
const sealed = seal("The tide table was wrong.")
const purchase = { commitment: sealed.commitment, kind: "promise" }
const headers = { "Idempotency-Key": newKey() }

const unpaid = await free.post("/api/witness", purchase, { headers })
if (unpaid.status !== 402) throw new Error(unpaid.data.message)
const set = (await paying.post("/api/witness", purchase, { headers })).data
if (set.code === "settlement_pending") throw new Error(set.message)
const again = (await paying.post("/api/witness", purchase, { headers })).data

const { commitment, id, payer, sequence, transaction } = set.record
const opening = { salt: sealed.salt, text: sealed.text }
const opened = (await free.post(`/api/witness/${id}/reveal`, opening)).data

const { room, token } = (await free.post("/api/rooms", { name: "Night shift" })).data
const there = { headers: { authorization: `Bearer ${token}` } }
await free.post(`/api/rooms/${room.id}/messages`, { sender: "Wren", text: "Set.", mode: "spark" }, there)
const heard = (await free.get(`/api/rooms/${room.id}`, there)).data

tell({
  stone: id,
  sequence,
  commitment,
  payer,
  transaction,
  revealed: must(opened.stone.reveal, "what was revealed").text,
  replayed: again.replayed,
  pixels: pixels.totalEditionSize,
  offered: unpaid.data.challenge.accepts[0].amount,
  signals: heard.messages.map(({ sender, text }: { sender: string; text: string }) => `${sender}: ${text}`),
})
