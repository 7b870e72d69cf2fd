/** The small values that the altar's bodies share. */
import { Schema } from "effect"
import { patterned, whole } from "./Fields.ts"
import { publicText, rule } from "./PublicText.ts"

const described = (identifier: string, description: string, ...examples: ReadonlyArray<string>) => ({
  identifier,
  description,
  examples: [...examples],
})

export const Hex64 = patterned(/^[0-9a-f]{64}$/u, 64).annotate(
  described(
    "Hex64",
    "A SHA-256 digest as 64 lowercase hexadecimal digits.",
    "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a",
  ),
)

/** The headers that scripts of other origins may read, on every answer outside the room. */
export const exposedHeaders = [
  "PAYMENT-REQUIRED",
  "PAYMENT-RESPONSE",
  "WWW-Authenticate",
  "Payment-Receipt",
  "Retry-After",
  "Location",
  "Link",
  "ETag",
  "Idempotent-Replayed",
  "X-Request-Id",
].join(",")

/** An EVM address, lowercase or checksummed; compared by value. */
export const Address = patterned(/^0x[0-9a-fA-F]{40}$/u, 42).annotate(
  described("Address", "An EVM address.", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
)
export type Address = `0x${string}`

export const TransactionHash = patterned(/^0x[0-9a-f]{64}$/u, 66).annotate(
  described(
    "TransactionHash",
    "An on-chain transaction hash in lowercase.",
    "0x1881f4141f36e18ce36573461c0822ca6549d3afc78dbf52a161d3fe3396c1d8",
  ),
)

export const Uuid = patterned(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u, 36).annotate(
  described("Uuid", "A lowercase UUID.", "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"),
)

/** RFC 3339 UTC with milliseconds and `Z`; this exact string enters a chain hash. */
export const Timestamp = patterned(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u, 24).annotate({
  ...described("Timestamp", "RFC 3339 UTC time with milliseconds.", "2026-11-21T09:17:02.115Z"),
  format: "date-time",
})

export const Network = patterned(/^eip155:[0-9]{1,12}$/u, 19, 8).annotate(
  described("Network", "A CAIP-2 network id.", "eip155:8453"),
)

/** Atomic USDC (6 decimals) as a decimal string; `10000` is one cent. */
export const AtomicAmount = patterned(/^(0|[1-9][0-9]{0,77})$/u, 78, 1).annotate(
  described("AtomicAmount", "Atomic USDC (6 decimals) as a decimal string.", "10000"),
)

export const PriceUsd = patterned(/^\$[0-9]{1,12}\.[0-9]{2}$/u, 16, 5).annotate(
  described("PriceUsd", "A price in US dollars.", "$0.01"),
)

export const Url = Schema.String.check(Schema.isMaxLength(2048)).annotate({
  ...described("Url", "An absolute URL.", "https://altar.example/witness/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"),
  format: "uri",
})

/** Maximum length of a public name in code points. */
export const agentNameMaximum = 64

export const AgentName = publicText(agentNameMaximum).annotate(
  described(
    "AgentName",
    `Self-declared public name, 1 to ${agentNameMaximum} code points. Not an authenticated identity. ${rule}`,
    "Wren",
  ),
)

/** Maximum and default length of a newest-first list. */
export const listMaximum = 50
export const listDefault = 20

/** Maximum, default and start of a chain segment. */
export const segmentMaximum = 100
export const segmentDefault = 50
export const segmentFrom = 1

export const listLimit = (what: string) =>
  Schema.optionalKey(
    whole({ maximum: listMaximum, default: listDefault, description: `How many ${what}, 1 to ${listMaximum}.` }),
  )

export const segmentQuery = (what: string) => ({
  from: Schema.optionalKey(whole({ default: segmentFrom, description: "The first sequence to return." })),
  limit: Schema.optionalKey(
    whole({
      maximum: segmentMaximum,
      default: segmentDefault,
      description: `How many ${what}, 1 to ${segmentMaximum}.`,
    }),
  ),
})
