/** One payment as the document shows it, from offer to settlement; the signature covers these very values. */
import { Base64 } from "effect/encoding"
import { usdc } from "./Usdc.ts"

const transaction = "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8"
const payTo = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const network = "eip155:8453"

export const requirements = {
  scheme: "exact",
  network,
  amount: "10000",
  asset: usdc[network].asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: usdc[network].assetName, version: usdc[network].assetVersion, paymentFlow: "upfront" },
} as const

export const resource = {
  url: "https://altar.example/api/witness",
  description: "One witness stone: a timestamped sealed commitment in a public hash chain",
  mimeType: "application/json",
} as const

export const identifier = {
  info: { required: true },
  schema: {
    type: "object",
    properties: {
      required: { type: "boolean" },
      id: { type: "string", minLength: 16, maxLength: 128, pattern: "^[a-zA-Z0-9_-]+$" },
    },
    required: ["required"],
  },
} as const

export const challenge = {
  x402Version: 2,
  error: "PAYMENT-SIGNATURE header is required",
  resource,
  accepts: [requirements],
  extensions: { "payment-identifier": identifier },
} as const

const payment = {
  x402Version: 2,
  resource,
  accepted: requirements,
  payload: {
    signature:
      "0xb5795b75f51e7dd6cb3e780f89f3f0e6349bf4adc96b83f679dcc28e77dd5e4e41500d3034d27bbfc5b8049c201d85cbacca054cf41257c403d1eee7742dc15a1c",
    authorization: {
      from: payer,
      to: payTo,
      value: "10000",
      validAfter: "1795252022",
      validBefore: "1795252922",
      nonce: "0x4e38f1abb7d5242afb85e47ad2e38cbeaa67164c1e09da72f4d664f3f156eeac",
    },
  },
}

const encoded = (value: object) => Base64.encode(JSON.stringify(value))

/** The same payment as PAYMENT-REQUIRED, PAYMENT-SIGNATURE and PAYMENT-RESPONSE. */
export const headers = {
  required: encoded(challenge),
  signature: encoded(payment),
  response: encoded({ success: true, transaction, network, payer }),
}
