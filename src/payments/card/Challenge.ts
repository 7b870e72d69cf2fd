/** A challenge of the Machine Payments Protocol and the credential that answers it, as sent in headers. */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Option, Redacted, Schema } from "effect"
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
export type Challenge = typeof Challenge.Type

export type Terms = Omit<Challenge, "id">

export const encoded = (value: Schema.Json): string => Buffer.from(canonicalJson(value)).toString("base64url")

/** The HMAC of all bound fields, each in its own place. Only holders of the secret can make one. */
const idOf = ({ digest, expires, intent, method, opaque, realm, request }: Terms, secret: Redacted.Redacted<string>) =>
  createHmac("sha256", Redacted.value(secret))
    .update([realm, method, intent, request, expires ?? "", digest ?? "", opaque ?? ""].join("|"))
    .digest("base64url")

export const make = (terms: Terms, secret: Redacted.Redacted<string>): Challenge => ({
  ...terms,
  id: idOf(terms, secret),
})

export const isOurs = (challenge: Challenge, secret: Redacted.Redacted<string>): boolean => {
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

/** Reads the answered challenge and the granted token of a `Payment` credential; none if it is malformed. */
export const read = (header: string): Option.Option<{ readonly challenge: Challenge; readonly token: string }> => {
  const [, text] = /^Payment\s+(\S+)$/iu.exec(header) ?? []
  return text === undefined
    ? Option.none()
    : Option.map(fromCredential(Buffer.from(text, "base64url").toString()), ({ challenge, payload }) => ({
        challenge,
        token: payload.spt,
      }))
}
