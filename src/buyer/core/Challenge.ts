/** The x402 v2 challenge of a 402, read and held to its form before anything looks at what it asks for. */

/** Atomic USDC as a decimal string, times in seconds. */
export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  /** EIP-712 domain of the asset. */
  readonly extra: { readonly name: string; readonly version: string }
}

export interface Challenge {
  readonly x402Version: 2
  readonly resource: { readonly url: string }
  readonly accepts: readonly [Offer]
}

const fromBase64 = (text: string) => new TextDecoder().decode(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)))

export const toBase64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(""))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isOffer = (value: unknown): value is Offer =>
  isObject(value) &&
  ["scheme", "network", "asset", "payTo"].every((name) => typeof value[name] === "string") &&
  typeof value["amount"] === "string" &&
  /^\d{1,78}$/u.test(value["amount"]) &&
  Number.isInteger(value["maxTimeoutSeconds"]) &&
  isObject(value["extra"]) &&
  typeof value["extra"]["name"] === "string" &&
  typeof value["extra"]["version"] === "string"

export const isChallenge = (value: unknown): value is Challenge =>
  isObject(value) &&
  value["x402Version"] === 2 &&
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
