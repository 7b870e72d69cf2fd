/** Settles through a remote x402 facilitator. Only a refusal that precedes any broadcast is believed. */
import * as JsonClient from "../../http/JsonClient.ts"
import * as Trace from "../../platform/Trace.ts"
import { Clock, Duration, Effect, Exit, Layer, Option, Redacted, Schema } from "effect"
import type { PaymentRequirements } from "../../../schema/payments/Payment.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { inLowerCase, type SignedAuthorization } from "../chain/Eip3009.ts"
import type { ChainPayment } from "../Payment.ts"
import { requirementsOf, type Terms } from "../PaymentTerms.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission, type Unpaid } from "./Settlement.ts"
import { Chain } from "../chain/Chain.ts"
import { getTransaction } from "../chain/Rpc.ts"
import { log } from "../../platform/LogMessages.ts"
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
  /** The terms of a resubmission. */
  readonly terms: Terms
  readonly timeout: Duration.Duration
}

/** Seconds of validity an authorization needs to be resubmitted: facilitators require 6 and take some time. */
const leastLife = 12n

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

const words = (text: string) => text.trim().split(/\s+/u)

/**
 * Reasons of a facilitator that precede its broadcast, so that no transaction can pay later. Any other reason, above
 * all `nonce_already_used`, may mean that our own payment succeeded.
 */
const beforeBroadcast = new Set([
  ...words(`
    insufficient_funds invalid_network invalid_payload invalid_payment_requirements invalid_scheme
    unsupported_scheme invalid_x402_version asset_not_deployed_contract eip6492_factory_not_allowed
    unsupported_payload_type`),
  ...words(`
    scheme network_mismatch missing_eip712_domain recipient_mismatch signature payload_signature
    payload_recipient_mismatch payload_authorization_valid_before payload_authorization_valid_after
    authorization_value payload_authorization_value payload_authorization_value_mismatch
    payload_authorization_from_address_kyt payload_authorization_to_address_kyt payload_undeployed_smart_wallet
    token_name_mismatch token_version_mismatch eip3009_not_supported insufficient_balance
    transaction_simulation_failed failed_to_parse_signature`).map((reason) => `invalid_exact_evm_${reason}`),
])

const isHash = (text: string | null | undefined): text is `0x${string}` => /^0x[0-9a-fA-F]{64}$/u.test(text ?? "")

const read = (text: string): Submission => {
  const answer = decodeAnswer(text)
  if (Option.isNone(answer)) return unclear("facilitator_nonsense")
  const { errorReason, success, transaction } = answer.value
  if (success && isHash(transaction)) return { _tag: "Submitted", transaction: inLowerCase(transaction) }
  const reason = errorReason ?? "facilitator_gave_no_reason"
  return !success && !transaction && beforeBroadcast.has(reason)
    ? { _tag: "Refused", reason }
    : {
        _tag: "Unclear",
        reason,
        transaction: isHash(transaction) ? Option.some(inLowerCase(transaction)) : Option.none(),
      }
}

const unclear = (reason: string): Submission => ({ _tag: "Unclear", reason, transaction: Option.none() })

const unheard: Submission = { _tag: "Unheard", reason: "facilitator_unreachable" }

/** The payload as any x402 client would send it. Other members of the client's payload are not stored. */
const payloadOf = (accepted: PaymentRequirements, signed: SignedAuthorization) => {
  const { from, nonce, signature, to, validAfter, validBefore, value } = signed
  const [amount, start, end] = [value, validAfter, validBefore].map(String)
  const authorization = { from, to, value: amount, validAfter: start, validBefore: end, nonce }
  return JSON.stringify({ x402Version: 2, accepted, payload: { signature, authorization } })
}

export const layer = (config: FacilitatorConfig): Layer.Layer<Settlement, never, Chain | DatabaseClock> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const chain = yield* Chain
      const clock = yield* DatabaseClock
      const { terms } = config
      const settleUrl = endpointOf(config, "settle")
      const post = yield* JsonClient.make(settleUrl)
      const ask = yield* supported(config, terms.network)

      /** Shared by all callers, one query at a time. A facilitator that limits our requests is up and may settle. */
      const [funds, forget] = yield* ask.pipe(
        Effect.as<Funds>("ok"),
        Effect.timeout(askedWithin),
        Effect.catchIf(
          (error) => error._tag === "FacilitatorUnfit" && error.isBusy,
          () => Effect.succeed<Funds>("unknown"),
        ),
        Effect.catchCause((cause) => Effect.as(log("facilitator unavailable", {}, cause), "failing" as const)),
        Effect.uninterruptible,
        Effect.cachedInvalidateWithTTL((exit) =>
          Exit.isSuccess(exit) && exit.value !== "failing" ? wellFor : unwellFor,
        ),
      )

      const submit = Effect.fnUntraced(function* (request: SettlementRequest) {
        const body = `{"x402Version":2,"paymentPayload":${request.payload},"paymentRequirements":${JSON.stringify(request.requirements)}}`
        const headers = yield* authorizationOf(config, "POST", settleUrl)
        return yield* post({ text: body, headers }).pipe(
          Effect.flatMap((response) => {
            if (!isRedirect(response)) return Effect.succeed(read(response.text))
            const reason = `${settleUrl.host} ${answersOf(response, "settle")}`
            return Effect.as(log("facilitator redirects", { reason }), unclear(`facilitator_${response.status}`))
          }),
          Effect.timeout(config.timeout),
          Effect.catch((error) =>
            Effect.as(
              forget,
              error._tag === "ConnectionFailed" && error.isUnsent ? unheard : unclear(`facilitator_${error._tag}`),
            ),
          ),
        )
      }, Trace.span("Facilitator.submit"))

      /**
       * Resubmits a payment that had paid and whose transaction the node no longer knows. A pending one may be in flight
       * at the facilitator, so it waits for its expiry.
       */
      const resubmit = Effect.fn("Facilitator.resubmit")(function* ({ id, paidIn }: Unpaid, payment: ChainPayment) {
        const { authorization, network } = payment
        const { asset, to: payTo, validBefore, value } = authorization
        const now = BigInt(Math.floor((yield* clock.now).millis / 1000))
        // The token's name is not stored, so only the configured token can be resubmitted.
        const isOurs = network === terms.network && asset.toLowerCase() === terms.asset.toLowerCase()
        if (paidIn === undefined || !isOurs || validBefore < now + leastLife) return Option.none<Submission>()
        if ((yield* chain.ask(getTransaction(paidIn))) !== null) return Option.none<Submission>()
        const requirements = { ...requirementsOf(terms, value), payTo }
        const payload = payloadOf(requirements, authorization)
        return Option.some(yield* submit({ attempt: id, authorization, requirements, payload }))
      })

      return Settlement.of({
        submit,
        resubmit: (unpaid, payment) =>
          Effect.catch(resubmit(unpaid, payment), (error) =>
            Effect.as(log("resubmission failed", {}, error), Option.none<Submission>()),
          ),
        // A facilitator does not report what it may still send.
        isSpent: () => Effect.succeed(false),
        obstacle: Effect.map(funds, (found) => (found === "failing" ? away : undefined)),
        funds,
      })
    }),
  )
