/** The short-lived bearer token a hosted facilitator asks for (CDP's form: one JWT for each call). */
import { createPrivateKey, randomBytes, sign } from "node:crypto"
import { Clock, Effect, Redacted } from "effect"
import { Base64Url } from "effect/encoding"

export interface FacilitatorKey {
  readonly id: string
  /** A PEM EC key (ES256), or base64 of 64 Ed25519 bytes: seed and public key (EdDSA). */
  readonly secret: Redacted.Redacted<string>
}

/** Seconds a token is valid. */
const lifetime = 120

const part = (value: object) => Base64Url.encode(JSON.stringify(value))

const ed25519Key = (secret: string) => {
  const bytes = Buffer.from(secret, "base64")
  return createPrivateKey({
    format: "jwk",
    key: {
      kty: "OKP",
      crv: "Ed25519",
      d: bytes.subarray(0, 32).toString("base64url"),
      x: bytes.subarray(32, 64).toString("base64url"),
    },
  })
}

/** A JWT for one call: header alg/kid/nonce, claims iss `cdp`, sub, uris, two minutes: what CDP asks for. */
export const bearerToken = (key: FacilitatorKey, method: string, url: URL) =>
  Effect.map(Clock.currentTimeMillis, (millis) => {
    const secret = Redacted.value(key.secret)
    const isPem = secret.includes("BEGIN")
    const now = Math.floor(millis / 1000)
    const header = { alg: isPem ? "ES256" : "EdDSA", kid: key.id, typ: "JWT", nonce: randomBytes(16).toString("hex") }
    const claims = {
      iss: "cdp",
      sub: key.id,
      nbf: now,
      exp: now + lifetime,
      uris: [`${method} ${url.host}${url.pathname}`],
    }
    const text = `${part(header)}.${part(claims)}`
    const signature = isPem
      ? sign("sha256", Buffer.from(text), { key: createPrivateKey(secret), dsaEncoding: "ieee-p1363" })
      : sign(null, Buffer.from(text), ed25519Key(secret))
    return `${text}.${Base64Url.encode(signature)}`
  })
