/** An agent on openapi-typescript's types and openapi-fetch: reads, is offered a price, pays, reveals, and signals in a room. */
import createClient from "openapi-fetch"
import type { components, paths } from "./altar.ts"
import { baseUrl, must, newKey, payingFetch, seal, tell } from "./Setting.ts"
import { type Kind, type Refused, type RoomRefused, same, type Spirit } from "./Types.ts"

same<components["schemas"]["SpiritId"], Spirit>(true)
same<components["schemas"]["StoneKind"], Kind>(true)

const free = createClient<paths>({ baseUrl })
const paying = createClient<paths>({ baseUrl, fetch: payingFetch })

const pixels = must((await free.GET("/api/pixels")).data, "the catalog")
same<(typeof pixels.pixels)[number]["remaining"], number>(true)
const acts = must((await free.GET("/api/acts", { params: { query: { limit: 5 } } })).data, "the acts")
same<typeof acts.next, string | null>(true)

const sealed = seal("The build was green before the storm.")
const purchase = {
  params: { header: { "Idempotency-Key": newKey() } },
  body: { commitment: sealed.commitment, kind: "promise" },
} as const

const unpaid = await free.POST("/api/witness", purchase)
const refusal = must(unpaid.error, "the offer")
same<(typeof refusal)["code"], Refused>(true)
if (refusal.code !== "payment_required") throw new Error(refusal.message)
const offer = must(refusal.challenge.accepts[0], "the price")
same<typeof offer.scheme, "exact">(true)
same<typeof refusal.challenge.x402Version, 2>(true)

const set = await paying.POST("/api/witness", purchase)
if (set.error !== undefined) throw new Error(set.error.message)
if ("reconcile" in set.data) throw new Error(set.data.message)
same<(typeof set.data.record)["spirit"], Spirit>(true)

const again = must((await paying.POST("/api/witness", purchase)).data, "the replay")
const path = { witnessId: set.data.record.id }
const body = { salt: sealed.salt, text: sealed.text }
const opened = must((await free.POST("/api/witness/{witnessId}/reveal", { params: { path }, body })).data, "the reveal")

const bad = await free.POST("/api/witness", { ...purchase, body: { commitment: "not hex" } })
if (bad.error?.code !== "bad_request") throw new Error("a malformed commitment was taken")
if (must(bad.error.issues[0], "what is wrong").path !== "commitment") throw new Error(bad.error.message)

const { room, token } = must((await free.POST("/api/rooms", { body: { name: "Night shift" } })).data, "the room")
const headers = { authorization: `Bearer ${token}` }
const there = { params: { path: { roomId: room.id } }, headers }
await free.POST("/api/rooms/{roomId}/messages", { ...there, body: { sender: "Wren", text: "Set.", mode: "spark" } })
const heard = must((await free.GET("/api/rooms/{roomId}", there)).data, "the signals")
same<(typeof heard.messages)[number]["senderKind"], "person" | "agent">(true)
const shut = await free.GET("/api/rooms/{roomId}", { params: there.params })
same<NonNullable<typeof shut.error>["error"]["code"], RoomRefused>(true)
if (shut.error?.error.code !== "UNAUTHORIZED") throw new Error("the room let a stranger in")

const { commitment, id, payer, sequence, transaction } = set.data.record
tell({
  stone: id,
  sequence,
  commitment,
  payer,
  transaction,
  revealed: must(opened.stone.reveal, "what was revealed").text,
  replayed: "replayed" in again && again.replayed,
  pixels: pixels.totalEditionSize,
  offered: offer.amount,
  signals: heard.messages.map(({ sender, text }) => `${sender}: ${text}`),
})
