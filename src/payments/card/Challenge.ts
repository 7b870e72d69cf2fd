/** The challenge of the Machine Payments Protocol that binds a card charge to one request, and its credential. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { Option, Redacted, Schema } from "effect"
import { centsOf } from "../../../schema/payments/Usdc.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"

/** `request` and `opaque` are canonical JSON in base64url. The credential returns them unchanged. */
const Challenge = Schema.Struct({
  id: Schema.NonEmptyString,
  realm: Schema.String,
  method: Schema.String,
  intent: Schema.String,
  request: Schema.String,
  expires: Schema.optionalKey(Schema.String),
  digest: Schema.optionalKey(Schema.String),
  opaque: Schema.optionalKey(Schema.String),
})
type Challenge = typeof Challenge.Type

const encoded = (value: Schema.Json): string => Buffer.from(canonicalJson(value)).toString("base64url")

type Secret = Redacted.Redacted<string>

/** The HMAC of all bound fields, each in its own place. Only holders of the secret can make one. */
const idOf = ({ digest, expires, intent, method, opaque, realm, request }: Omit<Challenge, "id">, secret: Secret) =>
  createHmac("sha256", Redacted.value(secret))
    .update([realm, method, intent, request, expires ?? "", digest ?? "", opaque ?? ""].join("|"))
    .digest("base64url")

export const isOurs = (challenge: Challenge, secret: Secret): boolean => {
  const [given, made] = [Buffer.from(challenge.id), Buffer.from(idOf(challenge, secret))]
  return given.length === made.length && timingSafeEqual(given, made)
}

/** Headers are limited to Latin-1. Clients of the protocol decode the escapes. */
const quoted = (text: string) =>
  `"${text
    .replaceAll(/["\\]/gu, "\\$&")
    .replaceAll(/[\u0100-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`

/** The value of `WWW-Authenticate`. */
export const headerOf = (challenge: Challenge, description: string): string => {
  const { digest, expires, id, intent, method, opaque, realm, request } = challenge
  const parameters = Object.entries({ id, realm, method, intent, request, description, digest, expires, opaque })
  return `Payment ${parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quoted(value)}`])).join(", ")}`
}

const fromCredential = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      challenge: Challenge,
      payload: Schema.Struct({ spt: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,255}$/u)) }),
    }),
  ),
)

/** A `Payment` credential as sent. It names no key of its own. */
export interface CardCredential {
  readonly rail: "card"
  readonly identifier: Option.Option<never>
  readonly header: string
}

/** The `Payment` credential of an `Authorization` header, which may hold several schemes. */
export const cardCredentialIn = (authorization: string | undefined): CardCredential | undefined => {
  const header = authorization
    ?.split(",")
    .map((scheme) => scheme.trim())
    .find((scheme) => /^Payment\s/iu.test(scheme))
  return header === undefined ? undefined : { rail: "card", identifier: Option.none(), header }
}

/** The answered challenge and the granted token; none if the credential is malformed. */
export const decodeCredential = ({ header }: CardCredential) => {
  const [, text] = /^Payment\s+(\S+)$/iu.exec(header) ?? []
  return text === undefined ? Option.none() : fromCredential(Buffer.from(text, "base64url").toString())
}

/** The request that a challenge is bound to. */
interface BoundRequest {
  readonly method: string
  /** The canonical absolute URL. */
  readonly url: string
  readonly key: string | undefined
  readonly body: string
}

/** Binds a challenge to method, URL and key by its opaque part, and to the body by its digest (RFC 9530). */
const bindingOf = ({ body, key, method, url }: BoundRequest) => ({
  opaque: encoded({
    request: createHash("sha256")
      .update(`${method}\n${url}\n${key ?? ""}`)
      .digest("base64url"),
  }),
  ...(body === "" ? {} : { digest: `sha-256=:${createHash("sha256").update(body).digest("base64")}:` }),
})

export interface ChallengeConfig {
  /** The profile that tokens are granted to, `profile_…`. */
  readonly profile: string
  /** The HMAC key of challenges, shared by all servers of one altar. */
  readonly challengeSecret: Secret
}

/** The challenge to pay a price for one request until a time. */
export const challengeOf = (
  realm: string,
  { challengeSecret, profile }: ChallengeConfig,
  priceAtomic: bigint,
  request: BoundRequest,
  expires: string,
): Challenge => {
  const unsigned = {
    realm,
    method: "stripe",
    intent: "charge",
    expires,
    request: encoded({
      amount: centsOf(priceAtomic).toString(),
      currency: "usd",
      methodDetails: { networkId: profile, paymentMethodTypes: ["card", "link"] },
    }),
    ...bindingOf(request),
  }
  return { ...unsigned, id: idOf(unsigned, challengeSecret) }
}
