/** Offers a card charge for one request by a challenge of the Machine Payments Protocol, and verifies its credential. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { timestampOf } from "../../platform/Time.ts"
import { centAtomic } from "../../../schema/payments/Usdc.ts"
import type { SoldAct } from "../Act.ts"
import { type CardPayment, centsOf } from "../Payment.ts"
import { refuse } from "../x402/verify/Offer.ts"
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

type Terms = Omit<Challenge, "id">

const encoded = (value: Schema.Json): string => Buffer.from(canonicalJson(value)).toString("base64url")

/** The HMAC of all bound fields, each in its own place. Only holders of the secret can make one. */
const idOf = ({ digest, expires, intent, method, opaque, realm, request }: Terms, secret: Redacted.Redacted<string>) =>
  createHmac("sha256", Redacted.value(secret))
    .update([realm, method, intent, request, expires ?? "", digest ?? "", opaque ?? ""].join("|"))
    .digest("base64url")

const isOurs = (challenge: Challenge, secret: Redacted.Redacted<string>): boolean => {
  const [given, made] = [Buffer.from(challenge.id), Buffer.from(idOf(challenge, secret))]
  return given.length === made.length && timingSafeEqual(given, made)
}

/** Headers are limited to Latin-1. Clients of the protocol decode the escapes. */
const quoted = (text: string) =>
  `"${text
    .replaceAll(/["\\]/gu, "\\$&")
    .replaceAll(/[\u0100-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`

/** The value of `WWW-Authenticate`. */
const headerOf = (challenge: Challenge, description: string): string => {
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
const readCredential = (header: string): Option.Option<{ readonly challenge: Challenge; readonly token: string }> => {
  const [, text] = /^Payment\s+(\S+)$/iu.exec(header) ?? []
  return text === undefined
    ? Option.none()
    : Option.map(fromCredential(Buffer.from(text, "base64url").toString()), ({ challenge, payload }) => ({
        challenge,
        token: payload.spt,
      }))
}

export interface CardRequest {
  readonly method: string
  /** The canonical absolute URL. */
  readonly url: string
  readonly key: string | undefined
  readonly body: string
}

export interface CardRailConfig {
  /** The profile that tokens are granted to, `profile_…`. */
  readonly profile: string
  /** The HMAC key of challenges, shared by all servers of one altar. */
  readonly challengeSecret: Redacted.Redacted<string>
}

/** Lifetime of a challenge in milliseconds. */
const challengeLife = 300_000

/** The processor's minimum charge. */
const leastCents = 50n

export const isForCards = ({ cards, priceAtomic }: SoldAct) =>
  cards === true && priceAtomic % centAtomic === 0n && centsOf(priceAtomic) >= leastCents

// A refusal claims nothing beyond its request: the same credential may have been charged for another one.
export const notHere = refuse(
  "card_not_accepted",
  "This route does not accept cards. Pay by x402, as PAYMENT-REQUIRED says.",
)

/** The `Payment` credential of an `Authorization` header, which may hold several schemes. */
export const cardCredentialIn = (authorization: string | undefined): string | undefined =>
  authorization
    ?.split(",")
    .map((scheme) => scheme.trim())
    .find((scheme) => /^Payment\s/iu.test(scheme))

/** Binds a challenge to method, URL and key by its opaque part, and to the body by its digest (RFC 9530). */
const bindingOf = ({ body, key, method, url }: CardRequest) => ({
  opaque: encoded({
    request: createHash("sha256")
      .update(`${method}\n${url}\n${key ?? ""}`)
      .digest("base64url"),
  }),
  ...(body === "" ? {} : { digest: `sha-256=:${createHash("sha256").update(body).digest("base64")}:` }),
})

export class CardRail extends Context.Service<CardRail>()("spirit-altar/payments/card/Rail", {
  make: Effect.fnUntraced(function* (config: CardRailConfig) {
    const realm = new URL(yield* PublicUrl).host
    const secret = config.challengeSecret
    const clock = yield* DatabaseClock

    const challengeFor = (act: SoldAct, request: CardRequest, expires: string): Challenge => {
      const terms = {
        realm,
        method: "stripe",
        intent: "charge",
        expires,
        request: encoded({
          amount: centsOf(act.priceAtomic).toString(),
          currency: "usd",
          methodDetails: { networkId: config.profile, paymentMethodTypes: ["card", "link"] },
        }),
        ...bindingOf(request),
      }
      return { ...terms, id: idOf(terms, secret) }
    }

    /** `WWW-Authenticate` for one request; none if the act is not sold for cards. */
    const offer = Effect.fn("CardRail.offer")(function* (act: SoldAct, request: CardRequest) {
      if (!isForCards(act)) return Option.none()
      const now = yield* clock.estimate
      const challenge = challengeFor(act, request, timestampOf(now + challengeLife))
      return Option.some(headerOf(challenge, act.description))
    })

    /** Verifies a credential against the challenge that this request would be offered. */
    const verify = Effect.fn("CardRail.verify")(function* (header: string, act: SoldAct, request: CardRequest) {
      if (!isForCards(act)) return yield* notHere
      const credential = readCredential(header)
      if (Option.isNone(credential)) {
        return yield* refuse(
          "malformed_credential",
          "Authorization holds no Payment credential with a granted token. Answer the challenge in WWW-Authenticate.",
        )
      }
      const { challenge, token } = credential.value
      if (challenge.expires === undefined || !isOurs(challenge, secret)) {
        return yield* refuse("invalid_challenge", "This card challenge is not from this server. Request a new one.")
      }
      if (challenge.id !== challengeFor(act, request, challenge.expires).id) {
        return yield* refuse(
          "challenge_mismatch",
          "This card challenge is for another URL, body, Idempotency-Key or price. Use the one in WWW-Authenticate.",
        )
      }
      if (Date.parse(challenge.expires) <= (yield* clock.estimate)) {
        return yield* refuse("payment_expired", "This card challenge has expired. Request a new one.")
      }
      const payment: CardPayment = {
        rail: "card",
        profile: config.profile,
        challenge: challenge.id,
        token: Redacted.make(token),
        intent: Option.none(),
      }
      return payment
    })

    return { offer, verify }
  }),
}) {
  static readonly layer = (config: CardRailConfig) => Layer.effect(this, this.make(config))
}
