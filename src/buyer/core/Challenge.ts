/** Reads the x402 v2 challenge of a 402 and checks its form. */

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
  readonly resource: { readonly url: string; readonly description: string; readonly mimeType: string }
  readonly accepts: readonly [Offer]
}

/** The JSON in an x402 header; undefined when there is none. */
export const readHeader = (header: string | null): unknown => {
  if (header === null) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (one) => one.charCodeAt(0))))
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const areTexts = <Name extends string>(members: Readonly<Record<string, unknown>>): members is Record<Name, string> =>
  Object.values(members).every((member) => typeof member === "string")

/** A copy of these members, when all of them are texts. */
const textsOf = <Name extends string>(value: unknown, ...names: ReadonlyArray<Name>) => {
  const copy = Object.fromEntries(names.map((name) => [name, isObject(value) && value[name]]))
  return areTexts<Name>(copy) ? copy : undefined
}

/** A copy of an offer's members in the contract; unknown members reach neither signer nor payment. */
const offerOf = (value: unknown): Offer | undefined => {
  const texts = textsOf(value, "scheme", "network", "amount", "asset", "payTo")
  if (texts === undefined || !isObject(value)) return undefined
  const { extra, maxTimeoutSeconds } = value
  const domain = textsOf(extra, "name", "version", "paymentFlow")
  return /^(?:0|[1-9]\d{0,77})$/u.test(texts.amount) &&
    typeof maxTimeoutSeconds === "number" &&
    Number.isInteger(maxTimeoutSeconds) &&
    domain?.paymentFlow === "upfront"
    ? { ...texts, maxTimeoutSeconds, extra: { ...domain, paymentFlow: "upfront" } }
    : undefined
}

/** A copy of a challenge's members in the contract; undefined for an unsupported one. */
export const challengeOf = (value: unknown): Challenge | undefined => {
  if (!isObject(value)) return undefined
  const { accepts, resource: named, x402Version } = value
  const resource = textsOf(named, "url", "description", "mimeType")
  const offer = Array.isArray(accepts) && accepts.length === 1 ? offerOf(accepts[0]) : undefined
  return x402Version === 2 && resource && offer ? { x402Version, resource, accepts: [offer] } : undefined
}

/** Reads the `PAYMENT-REQUIRED` header; undefined for an unsupported challenge. */
export const readChallenge = (header: string | null): Challenge | undefined => challengeOf(readHeader(header))
