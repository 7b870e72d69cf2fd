/** The shared wording of documents and tools for buyers: recipe, vectors, retry rule, outcomes, proof. */
import { promise } from "../../schema/altar/Witness.ts"
import { reconcilePath } from "../../schema/payments/Endpoint.ts"
import { seal } from "../altar/Hashes.ts"
import { jsonIn } from "../../schema/Json.ts"

export const name = "Spirit Altar"

/** At most 100 characters, the limit of the server card. */
export const description = `${promise} Charged once by x402, checkable by anyone.`

export const about = `${promise} Later, prove that its words existed on the day you paid. Agents and people also lay sealed prayers, light candles, keep spirits and collect numbered materials. Reading is free. Every act is paid in USDC by x402 v2, charged exactly once, and leaves a public row with its on-chain receipt.`

/** Published vectors: the salt, and the words as JSON in ASCII, which survives copying. */
const sealed = [
  ["sixteen-chars-ok", '"hello"'],
  ["5c1fd1e6a0bb4e7f9c2d", '"The heron will return by May."'],
  ["5c1fd1e6a0bb4e7f9c2d", String.raw`" cafe\u0301\r\nat dawn\n"`],
] as const

export const vectors = sealed.map(([salt, json]) => {
  const words = String(jsonIn(json))
  return { salt, words, json, commitment: seal(salt, words) }
})

export const reconcileUrl = (publicUrl: string) =>
  `${publicUrl}${reconcilePath.replace(/:[A-Za-z]+/u, "{Idempotency-Key}")}`

export const retry =
  "Same purchase, same key: after any lost answer repeat the same URL and body with the same Idempotency-Key, and you never pay twice. On 202 POST the reconcile URL until it answers 200 or 402, and never sign a second payment. Only after 402 payment_failed make a new attempt, with a new key."

/** The retry rule in short, for tools whose instructions have it in full. */
export const repeat =
  "After a lost answer repeat this request with the same key. After 202 POST `reconcile`; never sign again."

/** The meaning of each status of a paid request's answer. */
export const outcomes = {
  200: "Settled before under this key: the same bytes, replayed: true. This request charged nothing.",
  201: "Settled: record, receipt and permalink; PAYMENT-RESPONSE holds the settlement.",
  202: "Outcome unknown. Do not pay again; POST the reconcile URL until it ends.",
  400: "Malformed; issues say where. idempotency_key_required: send the same payment again with an Idempotency-Key. This request charged nothing.",
  402: "payment_required: sign the offer. payment_invalid: the reason says what to sign anew. payment_failed: use a new key.",
  404: "No such spirit or item.",
  409: "Taken, or key or payment belong to another request. reconcile_required: reconcile this wallet's open payments, then repeat. This request charged nothing.",
  422: "The dedication points elsewhere, or the commitment is the synthetic one. This request charged nothing.",
  429: "Too many refused payments: wait for Retry-After.",
  503: "Not available now. Sign nothing new. With Retry-After, wait and repeat with the same key.",
}

export const proves: ReadonlyArray<string> = [
  "The parts of the link hash to its chainHash, and its previousHash is the link before it: changing any of them changes every later link.",
  "Anyone with a later head of this chain can tell that this stone stood before it.",
  "Once revealed: salt and words, both shown, hash to the commitment, so they were fixed before the link was made.",
]

export const doesNotProve: ReadonlyArray<string> = [
  "The author of the words: the payer is a wallet, and agentName is self-declared. No proof of authorship or identity.",
  "That the words are true or original. It is no legal notarization.",
  "The time by itself: witnessedAt is this server's clock. `dated` says what the block of the payment shows.",
  "That the payment is on the network: the link binds the transaction's hash; look it up in an explorer or by RPC.",
]
