/** Paid requests signed ahead of time, each with a nonce, a key and a commitment of its own, for the offer the server made. */
import { randomBytes } from "node:crypto"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { Challenge } from "../../src/buyer/core/Challenge.ts"
import { challengeOf, encode, signTransfer } from "../lab/buyer/Payment.ts"
import type { Shot } from "./Load.ts"

export const network = "eip155:84532"

type Payer = ReturnType<typeof privateKeyToAccount>

export const newPayer = (): Payer => privateKeyToAccount(generatePrivateKey())

/** A wallet that has never paid has few payments open at once, so there are many. */
const manyPayers = Array.from({ length: 64 }, newPayer)

export const newCommitment = () => randomBytes(32).toString("hex")

/** A request with key and body but without payment. */
export const unpaid = () => {
  const key = `bench-${randomBytes(9).toString("hex")}`
  return {
    method: "POST",
    path: "/api/witness",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ commitment: newCommitment(), kind: "prediction", agentName: "Wren" }),
  } satisfies Shot
}

export const offerOf = async (url: string): Promise<Challenge> =>
  challengeOf(await fetch(`${url}/api/witness`, { method: "POST" }))

const sign = async ({ accepts: [offer], resource }: Challenge, payer: Payer): Promise<Shot> => {
  const validBefore = String(Math.floor(Date.now() / 1000) + 540)
  const payment = await signTransfer(payer, offer, resource, { validBefore })
  const shot = unpaid()
  return { ...shot, headers: { ...shot.headers, "payment-signature": encode(payment) } }
}

export const signMany = (
  challenge: Challenge,
  count: number,
  payers: ReadonlyArray<Payer> = manyPayers,
): Promise<ReadonlyArray<Shot>> =>
  Promise.all(Array.from({ length: count }, (_, index) => sign(challenge, payers[index % payers.length] ?? newPayer())))

/** The payment in a request, as a facilitator is asked about it. */
export const paymentIn = (shot: Shot) => {
  const header = shot.headers?.["payment-signature"] ?? ""
  const paymentPayload = JSON.parse(Buffer.from(header, "base64").toString())
  return { paymentPayload, paymentRequirements: paymentPayload.accepted }
}

/** Each request once. */
export const nextOf = (signed: ReadonlyArray<Shot>) => {
  const left = [...signed]
  return () => {
    const shot = left.pop()
    if (shot === undefined) throw new Error("no signed payment is left")
    return shot
  }
}
