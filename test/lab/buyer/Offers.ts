/** The offer of a stone, as an altar makes it and a buyer signs it. */
import type { Challenge } from "../../../src/buyer/core/Challenge.ts"

export const altar = "https://altar.example"
export const stoneUrl = `${altar}/api/witness`
export const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
export const payTo = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
export const digest = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
export const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

type Offer = Challenge["accepts"][0]

export const offer: Offer = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2", paymentFlow: "upfront" },
}

/** A challenge that asks for this, and otherwise for what a stone costs. */
export const asking = (change: Partial<Offer> = {}, url = stoneUrl): Challenge => ({
  x402Version: 2,
  resource: { url, description: "A stone", mimeType: "application/json" },
  accepts: [{ ...offer, ...change }],
})
