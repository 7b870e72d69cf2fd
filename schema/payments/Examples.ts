/** One payment as the document shows it, from offer to settlement; the signature covers these very values. */
import { Base64 } from "effect/encoding"
import { usdc } from "./Usdc.ts"

export const transaction = "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8"
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

/** Sent as they are. Marked required: a payment needs an id or an `Idempotency-Key`. */
export const identifier = {
  info: { required: true },
  schema: {
    type: "object",
    properties: {
      required: { type: "boolean" },
      id: { type: "string", pattern: "^[a-zA-Z0-9_-]{16,128}$" },
    },
    required: ["required"],
  },
} as const

/** An echo without a salt is a payment with a random nonce. */
export const binding = {
  info: { version: 1 },
  schema: {
    type: "object",
    properties: { version: { const: 1 }, salt: { type: "string", pattern: "^[A-Za-z0-9_-]{22,43}$" } },
    required: ["version"],
  },
} as const

export const challenge = {
  x402Version: 2,
  error: "PAYMENT-SIGNATURE header is required",
  resource,
  accepts: [requirements],
  extensions: { "payment-identifier": identifier, "request-binding": binding },
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

/** The signed receipt of the example's stone, by the key `receipts-2026-11+6e596319+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs`. */
export const jws = [
  "eyJhbGciOiJFZERTQSIsImtpZCI6ImRpZDp3ZWI6YWx0YXIuZXhhbXBsZSNyZWNlaXB0cy0yMDI2LTExIiwidHlwIjoieDQwMi1yZWNl",
  "aXB0K2p3cyJ9.eyJkZWxpdmVyZWQiOnsiYWN0Ijoic2V0V2l0bmVzc1N0b25lIiwiYW1vdW50IjoiMTAwMDAiLCJhc3NldCI6IjB4ODM",
  "zNTg5ZkNENmVEYjZFMDhmNGM3QzMyRDRmNzFiNTRiZEEwMjkxMyIsImlkIjoiM2YwYzJjMWUtNWIwYS00YzFmLTlkNTEtOGE1NGYzYTN",
  "mNmExIiwibGVhZiI6IjQ1MDkyMGUzNmU1YTI5OTY5MzE1YTExNmVhN2M4NDI1NmE2NTljZWRlMDJhN2ZhMTBlODY2M2YzZWJiZGY2ZDY",
  "iLCJub25jZSI6IjB4NGUzOGYxYWJiN2Q1MjQyYWZiODVlNDdhZDJlMzhjYmVhYTY3MTY0YzFlMDlkYTcyZjRkNjY0ZjNmMTU2ZWVhYyI",
  "sInBheVRvIjoiMHgzQzQ0Q2REZEI2YTkwMGZhMmI1ODVkZDI5OWUwM2QxMkZBNDI5M0JDIiwicmVjb3JkIjoiZWNiODQ5ZjY2ZmY5MWE",
  "0YTVjNzNiNmE1NGVjMjUwNzczZDMwMTNkNTQ5NGQwYzU3NzEzNGVmZGFiM2UyZTBjNCIsInNlcXVlbmNlIjoxfSwiaXNzdWVkQXQiOjE",
  "3OTUyNTI2MjIsIm5ldHdvcmsiOiJlaXAxNTU6ODQ1MyIsInBheWVyIjoiMHg3MDk5Nzk3MEM1MTgxMmRjM0EwMTBDN2QwMWI1MGUwZDE",
  "3ZGM3OUM4IiwicmVzb3VyY2VVcmwiOiJodHRwczovL2FsdGFyLmV4YW1wbGUvYXBpL3dpdG5lc3MiLCJ0cmFuc2FjdGlvbiI6IjB4MTg",
  "4MWY0MTQxZjM2ZTE4Y2UzNjU3MzQ2MWMwODIyY2E2NTQ5ZDNhZmM3OGRiZjUyYTE2MWQzZmUzMzk2YzFkOCIsInZlcnNpb24iOjF9.QB",
  "_IZEBvMRbw_wnvL0ti8npWxCzSznQ5103AnI2XSsR2mvXV6r4hWCdBza_Qn_itowN4y6R1yIow8Y1BYPmuAw",
].join("")

/** The same payment as PAYMENT-REQUIRED, PAYMENT-SIGNATURE, and PAYMENT-RESPONSE once it settled or while it is open. */
export const headers = {
  required: encoded(challenge),
  signature: encoded(payment),
  response: encoded({ success: true, transaction, network, payer }),
  pending: encoded({ success: false, errorReason: "settlement_pending", transaction, network, payer }),
  failed: encoded({ success: false, errorReason: "authorization_expired", transaction: "", network, payer }),
}
