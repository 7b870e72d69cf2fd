/** What is about to be signed is what the page listed: any other price, asset, network or address is refused before. */
import { usdc } from "../../../../schema/payments/Usdc.ts"

/** USDC where this page may pay it. */
export const assets: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(usdc).map(([network, { asset }]) => [network, asset]),
)

export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

export interface Challenge {
  readonly resource: { readonly url: string }
  readonly accepts: readonly [Offer]
}

/** What the page said before anybody was asked to sign. */
export interface Listed {
  readonly path: string
  readonly amount: string
  readonly network: string
}

const fromBase64 = (text: string) => new TextDecoder().decode(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)))

export const toBase64 = (text: string) =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(""))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isOffer = (value: unknown): value is Offer =>
  isObject(value) &&
  ["scheme", "network", "amount", "asset", "payTo"].every((name) => typeof value[name] === "string") &&
  Number.isInteger(value["maxTimeoutSeconds"]) &&
  isObject(value["extra"]) &&
  typeof value["extra"]["name"] === "string" &&
  typeof value["extra"]["version"] === "string"

const isChallenge = (value: unknown): value is Challenge =>
  isObject(value) &&
  isObject(value["resource"]) &&
  typeof value["resource"]["url"] === "string" &&
  Array.isArray(value["accepts"]) &&
  value["accepts"].length === 1 &&
  isOffer(value["accepts"][0])

/** Of the `PAYMENT-REQUIRED` header; undefined when it is none we understand. */
export const readChallenge = (header: string | null): Challenge | undefined => {
  if (header === null) return undefined
  try {
    const value: unknown = JSON.parse(fromBase64(header))
    return isChallenge(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Why this must not be signed; undefined when it is what was listed. */
export const refusal = ({ accepts: [offer], resource }: Challenge, listed: Listed): string | undefined => {
  if (offer.amount !== listed.amount)
    return `The altar asks for ${offer.amount} atomic USDC, but this page listed ${listed.amount}.`
  if (offer.scheme !== "exact")
    return `The altar asks for the payment scheme ${offer.scheme}, which this page does not sign.`
  if (offer.network !== listed.network)
    return `The altar asks for a payment on ${offer.network}, but this page listed ${listed.network}.`
  if (offer.asset.toLowerCase() !== assets[offer.network]?.toLowerCase())
    return `${offer.asset} is not USDC on ${offer.network}.`
  if (!/^0x[0-9a-fA-F]{40}$/u.test(offer.payTo)) return "The altar named no address to pay to."
  const url = URL.parse(resource.url)
  return url === null || url.pathname + url.search !== listed.path
    ? `The altar asks for a payment for ${resource.url}, which is not this act.`
    : undefined
}
