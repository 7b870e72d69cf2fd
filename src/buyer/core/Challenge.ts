/** The x402 v2 challenge of a 402, read and held to its form before anything looks at what it asks for. */

/** Atomic USDC as a decimal string, times in seconds. */
export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  /** EIP-712 domain of the asset; settled before the work. */
  readonly extra: { readonly name: string; readonly version: string; readonly paymentFlow: "upfront" }
}

export interface Challenge {
  readonly x402Version: 2
  readonly resource: { readonly url: string; readonly description?: string; readonly mimeType?: string }
  readonly accepts: readonly [Offer]
}

const fromBase64 = (text: string) => new TextDecoder().decode(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)))

export const toBase64 = (text: string): string =>
  btoa([...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join(""))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isText = (value: unknown): value is string => typeof value === "string"

/** A copy of what the contract knows of an offer: whatever else it names reaches neither signer nor payment. */
const offerOf = (value: unknown): Offer | undefined => {
  if (!isObject(value) || !isObject(value["extra"])) return undefined
  const { amount, asset, maxTimeoutSeconds, network, payTo, scheme } = value
  const { name, paymentFlow, version } = value["extra"]
  return isText(scheme) &&
    isText(network) &&
    isText(asset) &&
    isText(payTo) &&
    isText(amount) &&
    /^(?:0|[1-9]\d{0,77})$/u.test(amount) &&
    typeof maxTimeoutSeconds === "number" &&
    Number.isInteger(maxTimeoutSeconds) &&
    isText(name) &&
    isText(version) &&
    paymentFlow === "upfront"
    ? { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra: { name, version, paymentFlow } }
    : undefined
}

/** A copy of what the contract knows of a challenge; undefined when it is none we understand. */
export const challengeOf = (value: unknown): Challenge | undefined => {
  if (!isObject(value) || value["x402Version"] !== 2 || !isObject(value["resource"])) return undefined
  const { accepts } = value
  const { description, mimeType, url } = value["resource"]
  const offer = Array.isArray(accepts) && accepts.length === 1 ? offerOf(accepts[0]) : undefined
  if (offer === undefined || !isText(url)) return undefined
  const resource = {
    url,
    ...(isText(description) ? { description } : {}),
    ...(isText(mimeType) ? { mimeType } : {}),
  }
  return { x402Version: 2, resource, accepts: [offer] }
}

/** Of the `PAYMENT-REQUIRED` header; undefined when it is none we understand. */
export const readChallenge = (header: string | null): Challenge | undefined => {
  if (header === null) return undefined
  try {
    return challengeOf(JSON.parse(fromBase64(header)))
  } catch {
    return undefined
  }
}
