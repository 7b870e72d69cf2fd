/** An authorization, and what a transaction logs that uses or cancels one. */
import { createHash } from "node:crypto"
import { encodeEventTopics, type Hex, numberToHex, pad, parseAbi } from "viem"
import type { Log, SignedAuthorization } from "../../src/payments/x402/chain/Eip3009.ts"
import type { Terms } from "../../src/payments/PaymentTerms.ts"

export const address = (digit: string): Hex => `0x${digit.repeat(40)}`
export const word = (digit: string): Hex => `0x${digit.repeat(64)}`

export const authorization: SignedAuthorization = {
  asset: address("a"),
  from: address("b"),
  to: address("c"),
  value: 10_000n,
  validAfter: 0n,
  validBefore: 2_000n,
  nonce: word("d"),
  signature: `0x${"e".repeat(130)}`,
}

export const events = parseAbi([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
])

/** The logs of one that is used, canceled and transferred. */
export const logsOf = (changes: Partial<SignedAuthorization> = {}) => {
  const { asset, from, nonce, to, value } = { ...authorization, ...changes }
  const log = (topics: ReturnType<typeof encodeEventTopics>, data: Hex = "0x"): Log => ({
    address: asset,
    topics: topics.flatMap((topic) => topic ?? []),
    data,
  })
  const args = { authorizer: from, nonce }
  return {
    used: log(encodeEventTopics({ abi: events, eventName: "AuthorizationUsed", args })),
    canceled: log(encodeEventTopics({ abi: events, eventName: "AuthorizationCanceled", args })),
    moved: log(encodeEventTopics({ abi: events, eventName: "Transfer", args: { from, to } }), pad(numberToHex(value))),
  }
}

let draws = 0

/** Bytes that differ from draw to draw, and are the same in every run of a file. */
export const newHex = (bytes: number): Hex => {
  draws += 1
  const drawn = createHash("shake256", { outputLength: Math.max(1, bytes) }).update(String(draws))
  return `0x${drawn.digest("hex").slice(0, 2 * bytes)}`
}

/** The same, which does not expire. */
export const lasting = { ...authorization, validBefore: 4_000_000_000n }

export const terms: Terms = {
  network: "eip155:84532",
  asset: address("a"),
  assetName: "USDC",
  assetVersion: "2",
  payTo: address("c"),
  maxTimeoutSeconds: 300,
  settledBy: "a facilitator",
  isCatalogued: false,
  explorer: "https://explorer.example/{tx}",
}
