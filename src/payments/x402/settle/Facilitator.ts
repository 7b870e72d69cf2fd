/** Settles through a remote x402 facilitator. Its answer names a transaction to look for, and proves nothing. */
import * as JsonClient from "../../../http/JsonClient.ts"
import * as Trace from "../../../platform/Trace.ts"
import { Cause, Clock, Duration, Effect, Exit, Layer, Option, Redacted, Result, Schema } from "effect"
import { inLowerCase } from "../chain/Eip3009.ts"
import { challengeOf, requirementsOf, type Terms } from "../../PaymentTerms.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission, unreachable } from "./Settlement.ts"
import { lasting } from "../../../platform/Lasting.ts"
import { log } from "../../../platform/LogMessages.ts"
import { createPrivateKey, randomBytes, sign } from "node:crypto"
import { Base64Url } from "effect/encoding"

export interface FacilitatorKey {
  readonly id: string
  /** A PEM EC key (ES256), or base64 of 64 Ed25519 bytes: seed and public key (EdDSA). */
  readonly secret: Redacted.Redacted<string>
}

/** Validity of a token in seconds. */
const lifetime = 120

const part = (value: object) => Base64Url.encode(JSON.stringify(value))

const isPem = (secret: string) => secret.includes("BEGIN")

const keyOf = (secret: string) => {
  if (isPem(secret)) return createPrivateKey(secret)
  const bytes = Buffer.from(secret, "base64")
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map((half) => half.toString("base64url"))
  return createPrivateKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", d: d ?? "", x: x ?? "" } })
}

/** Whether calls can be signed with a secret. */
export const maySign = (secret: string): boolean =>
  Result.isSuccess(Result.try(() => keyOf(secret))) &&
  (isPem(secret)
    ? keyOf(secret).asymmetricKeyDetails?.namedCurve === "prime256v1"
    : Buffer.from(secret, "base64").length === 64 && Buffer.from(secret, "base64").toString("base64") === secret)

/** A JWT for one call as CDP requires it: header alg/kid/nonce, claims iss `cdp`, sub, uris, valid for two minutes. */
const bearerToken = (key: FacilitatorKey, method: string, url: URL) =>
  Effect.map(Clock.currentTimeMillis, (millis) => {
    const secret = Redacted.value(key.secret)
    const now = Math.floor(millis / 1000)
    const header = {
      alg: isPem(secret) ? "ES256" : "EdDSA",
      kid: key.id,
      typ: "JWT",
      nonce: randomBytes(16).toString("hex"),
    }
    const claims = {
      iss: "cdp",
      sub: key.id,
      nbf: now,
      exp: now + lifetime,
      uris: [`${method} ${url.host}${url.pathname}`],
    }
    const text = `${part(header)}.${part(claims)}`
    const signature = sign(isPem(secret) ? "sha256" : null, Buffer.from(text), {
      key: keyOf(secret),
      dsaEncoding: "ieee-p1363",
    })
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
export const supported = Effect.fnUntraced(function* (facilitator: FacilitatorAddress, network: string) {
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

export interface FacilitatorConfig extends FacilitatorAddress {
  readonly terms: Terms
  readonly timeout: Duration.Duration
}

const away = "The facilitator does not confirm that it settles payments, so this server accepts no USDC now"

/** How long a good and a bad answer are cached, and the timeout of a query. */
const wellFor = Duration.seconds(5)
const unwellFor = Duration.seconds(1)
const askedWithin = Duration.seconds(2)

const Answer = Schema.Struct({
  success: Schema.Boolean,
  transaction: Schema.optionalKey(Schema.NullOr(Schema.String)),
  errorReason: Schema.optionalKey(Schema.NullOr(Schema.String)),
})

const decodeAnswer = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))

const isHash = (text: string | null | undefined): text is `0x${string}` => /^0x[0-9a-fA-F]{64}$/u.test(text ?? "")

const unclear = (reason: string, transaction = Option.none<`0x${string}`>()): Submission => ({
  _tag: "Unclear",
  reason,
  transaction,
})

/** A refusal is unclear, too: the facilitator may have sent the payment, or may send it later. */
const submissionIn = (text: string): Submission => {
  const answer = decodeAnswer(text)
  if (Option.isNone(answer)) return unclear("facilitator_nonsense")
  const { errorReason, success, transaction } = answer.value
  if (!isHash(transaction)) return unclear(errorReason ?? "facilitator_gave_no_reason")
  const named = inLowerCase(transaction)
  return success
    ? { _tag: "Submitted", transaction: named }
    : unclear(errorReason ?? "facilitator_gave_no_reason", Option.some(named))
}

/**
 * The body of a settlement, as a client would send it that accepts the offer. Only what was verified goes on. The attempt
 * is its identifier, which the offer demands of a payment.
 */
const bodyOf = (terms: Terms, { attempt, payment, offer }: SettlementRequest) => {
  const { from, nonce, signature, to, validAfter, validBefore, value } = payment.authorization
  const [amount, start, end] = [value, validAfter, validBefore].map(String)
  const authorization = { from, to, value: amount, validAfter: start, validBefore: end, nonce }
  const { extensions: offered, resource } = challengeOf(terms, offer, "")
  const extensions = { ...offered, "payment-identifier": { info: { required: true, id: attempt } } }
  const accepted = requirementsOf(terms, offer.amountAtomic)
  const paymentPayload = { x402Version: 2, resource, accepted, payload: { signature, authorization }, extensions }
  return JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted })
}

export const layer = (config: FacilitatorConfig): Layer.Layer<Settlement> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const { terms } = config
      const settleUrl = endpointOf(config, "settle")
      const post = yield* JsonClient.make(settleUrl)
      const ask = yield* supported(config, terms.network)

      const absence = lasting()
      /** Shared by all callers, one query at a time. A facilitator that limits our requests is up and may settle. */
      const [funds, forget] = yield* ask.pipe(
        Effect.tap(absence.ends),
        Effect.as<Funds>("ok"),
        Effect.timeout(askedWithin),
        Effect.catchIf(
          (error) => error._tag === "FacilitatorUnfit" && error.isBusy,
          () => Effect.succeed<Funds>("unknown"),
        ),
        Effect.catchCause((cause) =>
          Effect.as(
            absence.goesOn(Cause.pretty(cause).split("\n", 1).join(""), log("facilitator unavailable", {}, cause)),
            "failing" as const,
          ),
        ),
        Effect.uninterruptible,
        Effect.cachedInvalidateWithTTL((exit) =>
          Exit.isSuccess(exit) && exit.value !== "failing" ? wellFor : unwellFor,
        ),
      )

      const submit = Effect.fnUntraced(function* (request: SettlementRequest) {
        const headers = yield* authorizationOf(config, "POST", settleUrl)
        return yield* post({ text: bodyOf(terms, request), headers }).pipe(
          Effect.map((response) =>
            isRedirect(response)
              ? unclear(`${settleUrl.host} ${answersOf(response, "settle")}`)
              : submissionIn(response.text),
          ),
          Effect.timeout(config.timeout),
          Effect.catch((error) => {
            const isUnsent = error._tag === "ConnectionFailed" && error.isUnsent
            const reason = isUnsent ? unreachable : `facilitator_${error._tag}`
            return Effect.as(forget, isUnsent ? ({ _tag: "Refused", reason } as const) : unclear(reason))
          }),
          Effect.tap((submission) =>
            submission._tag === "Submitted"
              ? Effect.void
              : log("payment not settled", { attempt: request.attempt, reason: submission.reason.slice(0, 200) }),
          ),
        )
      }, Trace.span("Facilitator.submit"))

      return Settlement.of({
        submit,
        // It may still send what it was given, so nothing is given to it twice.
        resubmit: () => Effect.succeedNone,
        isSpent: () => Effect.succeed(false),
        obstacle: Effect.map(funds, (state) => (state === "failing" ? away : undefined)),
        funds,
      })
    }),
  )
