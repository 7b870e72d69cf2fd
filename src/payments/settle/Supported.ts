/** Checks at a facilitator's `/supported`, which x402 requires, that it settles our payments. */
import { createPrivateKey, randomBytes, sign } from "node:crypto"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import * as JsonClient from "../../http/JsonClient.ts"

export interface FacilitatorKey {
  readonly id: string
  /** A PEM EC key (ES256), or base64 of 64 Ed25519 bytes: seed and public key (EdDSA). */
  readonly secret: Redacted.Redacted<string>
}

/** Validity of a token in seconds. */
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

/** A JWT for one call as CDP requires it: header alg/kid/nonce, claims iss `cdp`, sub, uris, valid for two minutes. */
const bearerToken = (key: FacilitatorKey, method: string, url: URL) =>
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

export interface FacilitatorAddress {
  /** Base URL; `/settle` and `/supported` are appended. */
  readonly url: string
  readonly key: Option.Option<FacilitatorKey>
}

/** The facilitator answers but does not confirm that it settles our payments. `isBusy` means a rate limit. */
export class FacilitatorUnfit extends Schema.TaggedError<FacilitatorUnfit>()("FacilitatorUnfit", {
  message: Schema.String,
  isBusy: Schema.Boolean,
}) {}

/** Says where a redirect leads; it is never followed, since the facilitator was chosen by its address. */
export const answersOf = ({ location, status }: JsonClient.ClientResponse, path: string) =>
  `answers ${status} at /${path}${location === undefined ? "" : `, which leads to ${location}. Set FACILITATOR_URL to the final address`}`

export const isRedirect = ({ status }: JsonClient.ClientResponse) => status >= 300 && status < 400

export const endpointOf = ({ url }: FacilitatorAddress, path: "settle" | "supported" | "verify") =>
  new URL(`${url.replace(/\/$/u, "")}/${path}`)

/** The authorization header of one call, if a key is configured. */
export const authorizationOf = (
  { key }: FacilitatorAddress,
  method: "GET" | "POST",
  url: URL,
): Effect.Effect<Readonly<Record<string, string>>> =>
  Option.isNone(key)
    ? Effect.succeed({})
    : Effect.map(bearerToken(key.value, method, url), (token) => ({ authorization: `Bearer ${token}` }))

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ kinds: Schema.Array(Schema.Unknown) })))

const isKind = Schema.is(Schema.Struct({ x402Version: Schema.Finite, scheme: Schema.String, network: Schema.String }))

/** A query of `/supported` over connections that last as long as the scope. It has no timeout of its own. */
export const make = Effect.fnUntraced(function* (facilitator: FacilitatorAddress, network: string) {
  const url = endpointOf(facilitator, "supported")
  const ask = yield* JsonClient.make(url, "GET")
  const unfit = (message: string, isBusy = false) =>
    Effect.fail(new FacilitatorUnfit({ message: `${url.host} ${message}`, isBusy }))

  return Effect.gen(function* () {
    const headers = yield* authorizationOf(facilitator, "GET", url)
    const response = yield* ask({ headers })
    const { status, text } = response
    if (status !== 200) return yield* unfit(answersOf(response, "supported"), status === 429)
    const answer = decode(text)
    if (Option.isNone(answer)) return yield* unfit("lists no kinds of payment at /supported")
    const isSupported = answer.value.kinds.some(
      (kind) => isKind(kind) && kind.x402Version === 2 && kind.scheme === "exact" && kind.network === network,
    )
    if (!isSupported) return yield* unfit(`does not settle exact payments of x402 version 2 on ${network}`)
  })
})

/** Fails if a path that takes payments redirects. Its empty request is no payment, so any other answer is right. */
export const unredirected = Effect.fnUntraced(function* (facilitator: FacilitatorAddress) {
  for (const path of ["verify", "settle"] as const) {
    const url = endpointOf(facilitator, path)
    const post = yield* JsonClient.make(url)
    const response = yield* post({ text: "{}", headers: yield* authorizationOf(facilitator, "POST", url) })
    if (isRedirect(response))
      return yield* new FacilitatorUnfit({ message: `${url.host} ${answersOf(response, path)}`, isBusy: false })
  }
})
