/** Reads the x402 v2 challenge of a 402 and checks its form. */
import { anyMembers, attempt, textAt, wholeAt } from "./Json.ts"

/** The JSON in an x402 header; undefined when there is none. */
export const readHeader = (header: string | null): unknown =>
  attempt(() =>
    JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header ?? ""), (character) => character.charCodeAt(0)))),
  )

/** A copy of an offer's members in the contract; unknown members reach neither signer nor payment. */
const offerOf = (value: unknown) => {
  const offer = anyMembers(value, "The offer")
  const extra = anyMembers(offer["extra"], "extra")
  textAt(extra, "paymentFlow", /^upfront$/u)
  return {
    scheme: textAt(offer, "scheme"),
    network: textAt(offer, "network"),
    /** Atomic USDC. */
    amount: textAt(offer, "amount", /^(?:0|[1-9]\d{0,77})$/u),
    asset: textAt(offer, "asset"),
    payTo: textAt(offer, "payTo"),
    maxTimeoutSeconds: wholeAt(offer, "maxTimeoutSeconds"),
    /** EIP-712 domain of the asset; settled before the work. */
    extra: { name: textAt(extra, "name"), version: textAt(extra, "version"), paymentFlow: "upfront" as const },
  }
}

/** A copy of a challenge's members in the contract; undefined for an unsupported one. */
export const challengeOf = (value: unknown) =>
  attempt(() => {
    const { accepts, resource: named, x402Version } = anyMembers(value, "The challenge")
    const resource = anyMembers(named, "resource")
    const [offer, ...others] = Array.isArray(accepts) ? accepts : []
    if (x402Version !== 2 || others.length > 0) return undefined
    return {
      x402Version,
      resource: {
        url: textAt(resource, "url"),
        description: textAt(resource, "description"),
        mimeType: textAt(resource, "mimeType"),
      },
      accepts: [offerOf(offer)] as const,
    }
  })

export type Challenge = NonNullable<ReturnType<typeof challengeOf>>
export type Offer = Challenge["accepts"][0]

/** Reads the `PAYMENT-REQUIRED` header; undefined for an unsupported challenge. */
export const readChallenge = (header: string | null) => challengeOf(readHeader(header))
