/** Decides whether a signed payment fits an offer exactly and would settle now; blames the payer only for the payer's faults. */
import { Clock, Context, Effect, Layer, Option, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { isAddressEqual } from "viem"
import { PaymentPayload } from "../../schema/altar/Payment.ts"
import { Chain, type ChainUnavailable } from "./Chain.ts"
import { deploymentOf, type SignedAuthorization } from "./Eip3009.ts"
import type { Sale, Terms } from "./PaymentTerms.ts"

/** The payment does not fit; `reason` is the x402 code, `message` tells the payer what to change. */
export class PaymentRejected extends Schema.TaggedError<PaymentRejected>()("PaymentRejected", {
  reason: Schema.String,
  message: Schema.String,
}) {}

export interface VerifiedPayment {
  readonly authorization: SignedAuthorization
  /** The payload as the client sent it, JSON. */
  readonly payload: string
  readonly fromBlock: bigint
}

export interface PaymentVerifierConfig {
  /** Factories whose wallets may be deployed by their first payment (EIP-6492). */
  readonly walletFactories: ReadonlyArray<`0x${string}`>
}

/** Seconds an authorization must still live: what a settlement needs (x402.md §2.2). */
const leastLife = 6n
/** Seconds after which an authorization could no longer be proven unpaid in time (decisions.md §4, step 8). */
const longestLife = 86_400n

const decodePayload = Schema.decodeUnknownResult(Schema.fromJsonString(PaymentPayload))
const decodeVersion = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ x402Version: Schema.Unknown })))

const reject = (reason: string, message: string) =>
  new PaymentRejected({ reason, message: `${message} Nothing was charged.` })

const hex = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`

const sameAddress = (a: string, b: string) => /^0x[0-9a-fA-F]{40}$/u.test(a) && isAddressEqual(hex(a), hex(b))

const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u

const simulationMessages: Readonly<Record<string, string>> = {
  invalid_exact_evm_nonce_already_used: "This authorization was used or cancelled; sign a new one.",
  invalid_exact_evm_insufficient_balance: "The paying wallet holds less USDC than the price; fund it and sign again.",
  invalid_exact_evm_signature: "The signature is not the paying wallet's signature of this authorization; sign again.",
  invalid_exact_evm_payload_authorization_valid_before: "The authorization has expired on chain; sign a new one.",
  invalid_exact_evm_payload_authorization_valid_after: "The authorization is not valid yet on chain; sign a new one.",
}

const read = (header: string): Result.Result<{ payload: PaymentPayload; text: string }, PaymentRejected> => {
  const text = strictBase64.test(header) ? Result.getOrUndefined(Base64.decodeString(header)) : undefined
  if (text === undefined) {
    return Result.fail(reject("invalid_payload", "PAYMENT-SIGNATURE must be padded standard base64 of a JSON object."))
  }
  const version = Option.map(decodeVersion(text), (value) => value.x402Version)
  if (Option.isSome(version) && version.value !== 2) {
    return Result.fail(reject("invalid_x402_version", "This server speaks x402 version 2 only."))
  }
  return Result.mapBoth(decodePayload(text), {
    onSuccess: (payload) => ({ payload, text }),
    onFailure: () =>
      reject("invalid_payload", "PAYMENT-SIGNATURE does not hold an x402 v2 payload with an EIP-3009 authorization."),
  })
}

/** The first thing of a payload that does not fit the offer, if any. */
const mismatch = (payload: PaymentPayload, terms: Terms, sale: Sale): PaymentRejected | undefined => {
  const { accepted, payload: signed, resource } = payload
  const price = sale.amountAtomic.toString()
  if (accepted.scheme !== "exact") return reject("unsupported_scheme", "Only the scheme `exact` is accepted.")
  if (accepted.network !== terms.network) return reject("invalid_network", `Pay on ${terms.network}.`)
  if (!sameAddress(accepted.asset, terms.asset))
    return reject("invalid_payment_requirements", `Pay with ${terms.asset}.`)
  if (!sameAddress(accepted.payTo, terms.payTo)) return reject("invalid_payment_requirements", `Pay to ${terms.payTo}.`)
  if (accepted.amount !== price) return reject("invalid_payment_requirements", `The price is ${price} atomic USDC.`)
  if (resource.url !== sale.url)
    return reject("resource_url_mismatch", `The payment was made for another URL; this one is ${sale.url}.`)
  if (!sameAddress(signed.authorization.to, terms.payTo)) {
    return reject("invalid_exact_evm_recipient_mismatch", `The authorization must pay ${terms.payTo}.`)
  }
  if (BigInt(signed.authorization.value) !== sale.amountAtomic) {
    return reject(
      "invalid_exact_evm_payload_authorization_value_mismatch",
      `The authorization must be for exactly ${price} atomic USDC.`,
    )
  }
  return undefined
}

/** Whether the time window is open, long enough to settle and short enough to be proven over. */
const untimely = (authorization: SignedAuthorization, nowMillis: number): PaymentRejected | undefined => {
  const now = BigInt(Math.floor(nowMillis / 1000))
  if (authorization.validAfter > now) {
    return reject("invalid_exact_evm_payload_authorization_valid_after", "The authorization is not valid yet.")
  }
  if (authorization.validBefore < now + leastLife) {
    return reject(
      "invalid_exact_evm_payload_authorization_valid_before",
      "The authorization expires too soon; sign a new one.",
    )
  }
  if (authorization.validBefore > now + longestLife) {
    return reject(
      "invalid_exact_evm_payload_authorization_valid_before",
      "The authorization lives longer than 24 hours; sign a shorter one.",
    )
  }
  return undefined
}

export class PaymentVerifier extends Context.Service<
  PaymentVerifier,
  {
    /** Decodes `PAYMENT-SIGNATURE`, matches it with the offer and tries it on the chain. */
    verify(header: string, terms: Terms, sale: Sale): Effect.Effect<VerifiedPayment, PaymentRejected | ChainUnavailable>
  }
>()("spirit-altar/payments/PaymentVerifier") {
  static readonly layer = (config: PaymentVerifierConfig) =>
    Layer.effect(
      PaymentVerifier,
      Effect.gen(function* () {
        const chain = yield* Chain

        const verify = Effect.fn("PaymentVerifier.verify")(function* (header: string, terms: Terms, sale: Sale) {
          const { payload, text } = yield* Effect.fromResult(read(header))
          const misfit = mismatch(payload, terms, sale)
          if (misfit !== undefined) return yield* misfit

          const { authorization: signed, signature } = payload.payload
          const authorization: SignedAuthorization = {
            asset: terms.asset,
            from: hex(signed.from),
            to: hex(signed.to),
            value: BigInt(signed.value),
            validAfter: BigInt(signed.validAfter),
            validBefore: BigInt(signed.validBefore),
            nonce: hex(signed.nonce),
            signature: hex(signature),
          }
          const late = untimely(authorization, yield* Clock.currentTimeMillis)
          if (late !== undefined) return yield* late

          const deployment = deploymentOf(authorization.signature)
          if (
            deployment !== undefined &&
            !config.walletFactories.some((one) => isAddressEqual(one, deployment.factory))
          ) {
            return yield* reject(
              "eip6492_factory_not_allowed",
              "Wallets of this factory must be deployed before they pay.",
            )
          }

          const simulation = yield* chain.simulate(authorization)
          if (simulation._tag === "Reverted") {
            const message = simulationMessages[simulation.reason] ?? "The token refuses this transfer."
            return yield* reject(simulation.reason, message)
          }
          return { authorization, payload: text, fromBlock: simulation.block }
        })

        return PaymentVerifier.of({ verify })
      }),
    )
}
