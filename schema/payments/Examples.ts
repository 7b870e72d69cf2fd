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

/** The signature of the example's statement, by the account that is paid. */
export const statementSignature =
  "0x535237ae53fb9f3c707658e177d46521823db3a12f73e62f359e8b3cb8dd7c9044c787e9c229f1ee7b8de05ee0a60aab367dfa406e50aecd2ffb4a02530c3e7f1c"

/** The signed receipt of the example's stone, by the key `receipts-2026-11+6e596319+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs`. */
export const jws = [
  "eyJhbGciOiJFZERTQSIsImtpZCI6ImRpZDp3ZWI6YWx0YXIuZXhhbXBsZSNyZWNlaXB0cy0yMDI2LTExIiwidHlwIjoieDQwMi1y",
  "ZWNlaXB0K2p3cyJ9.eyJkZWxpdmVyZWQiOnsiYW1vdW50IjoiMTAwMDAiLCJhc3NldCI6IjB4ODMzNTg5ZkNENmVEYjZFMDhmNGM",
  "3QzMyRDRmNzFiNTRiZEEwMjkxMyIsImxlYWYiOiI0NTA5MjBlMzZlNWEyOTk2OTMxNWExMTZlYTdjODQyNTZhNjU5Y2VkZTAyYTd",
  "mYTEwZTg2NjNmM2ViYmRmNmQ2Iiwibm9uY2UiOiIweDRlMzhmMWFiYjdkNTI0MmFmYjg1ZTQ3YWQyZTM4Y2JlYWE2NzE2NGMxZTA",
  "5ZGE3MmY0ZDY2NGYzZjE1NmVlYWMiLCJwYXlUbyI6IjB4M0M0NENkRGRCNmE5MDBmYTJiNTg1ZGQyOTllMDNkMTJGQTQyOTNCQyI",
  "sInJlY29yZCI6ImVjYjg0OWY2NmZmOTFhNGE1YzczYjZhNTRlYzI1MDc3M2QzMDEzZDU0OTRkMGM1NzcxMzRlZmRhYjNlMmUwYzQ",
  "iLCJzZXF1ZW5jZSI6MX0sImlzc3VlZEF0IjoxNzk1MjUyNjIyLCJuZXR3b3JrIjoiZWlwMTU1Ojg0NTMiLCJwYXllciI6IjB4NzA",
  "5OTc5NzBDNTE4MTJkYzNBMDEwQzdkMDFiNTBlMGQxN2RjNzlDOCIsInJlc291cmNlVXJsIjoiaHR0cHM6Ly9hbHRhci5leGFtcGx",
  "lL2FwaS93aXRuZXNzIiwidHJhbnNhY3Rpb24iOiIweDE4ODFmNDE0MWYzNmUxOGNlMzY1NzM0NjFjMDgyMmNhNjU0OWQzYWZjNzh",
  "kYmY1MmExNjFkM2ZlMzM5NmMxZDgiLCJ2ZXJzaW9uIjoxfQ.NqWpsGyqzrtfctlN7JNlILuXmGX46W0bCWq5IWHg0F-J0yj68bKy",
  "6ll6YAnl6wlUesZgvwIC8qfl_Hnxy8-VCA",
].join("")

/** The same payment as PAYMENT-REQUIRED, PAYMENT-SIGNATURE, and PAYMENT-RESPONSE once it settled or while it is open. */
export const headers = {
  required: encoded(challenge),
  signature: encoded(payment),
  response: encoded({ success: true, transaction, network, payer }),
  pending: encoded({ success: false, errorReason: "settlement_pending", transaction, network, payer }),
}
