/** The same agent on a client that @hey-api/openapi-ts generates: one function an operation, named by its operation id. */
import { createClient } from "./altar/client/index.ts"
import * as altar from "./altar/index.ts"
import { baseUrl, must, newKey, payingFetch, seal, tell } from "./Setting.ts"
import { type Kind, type Refused, type RoomRefused, same, type Spirit } from "./Types.ts"

same<altar.SpiritId, Spirit>(true)
same<altar.StoneKind, Kind>(true)
same<altar.PaymentRefusal["code"], "payment_required" | "payment_invalid" | "payment_failed">(true)
same<altar.Challenge["accepts"], [altar.PaymentRequirements]>(true)

const client = createClient({ baseUrl })
const paying = createClient({ baseUrl, fetch: payingFetch })

const pixels = must((await altar.listPixels({ client })).data, "the catalog")
const acts = must((await altar.listActs({ client, query: { limit: 5 } })).data, "the acts")
same<typeof acts.next, string | null>(true)

const sealed = seal("The tide table on the wall is last year's.")
const purchase = {
  headers: { "Idempotency-Key": newKey() },
  body: { commitment: sealed.commitment, kind: "promise" },
} as const

const refusal = must((await altar.setWitnessStone({ client, ...purchase })).error, "the offer")
same<(typeof refusal)["code"], Refused>(true)
if (refusal.code !== "payment_required") throw new Error(refusal.message)
const [offer] = refusal.challenge.accepts

const set = await altar.setWitnessStone({ client: paying, ...purchase })
if (set.error !== undefined) throw new Error(set.error.message)
if ("reconcile" in set.data) throw new Error(set.data.message)
same<(typeof set.data.record)["spirit"], Spirit>(true)

const again = must((await altar.setWitnessStone({ client: paying, ...purchase })).data, "the replay")
const path = { witnessId: set.data.record.id }
const body = { salt: sealed.salt, text: sealed.text }
const opened = must((await altar.revealWitnessStone({ client, path, body })).data, "the reveal")

const bad = await altar.setWitnessStone({ client, ...purchase, body: { commitment: "not hex" } })
if (bad.error?.code !== "bad_request") throw new Error("a malformed commitment was taken")
if (must(bad.error.issues[0], "what is wrong").path !== "commitment") throw new Error(bad.error.message)

const { room, token } = must((await altar.createRoom({ client, body: { name: "Night shift" } })).data, "the room")
const there = { client, auth: token, path: { roomId: room.id } }
await altar.sendMessage({ ...there, body: { sender: "Wren", text: "Set.", mode: "spark" } })
const heard = must((await altar.readRoom(there)).data, "the signals")
const shut = await altar.readRoom({ client, path: there.path })
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
