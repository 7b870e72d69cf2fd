/** Settles through a remote x402 facilitator. Only a refusal that precedes any broadcast is believed. */
import { Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import type { PaymentRequirements } from "../../../schema/payments/Payment.ts"
import * as JsonClient from "../../http/JsonClient.ts"
import * as Trace from "../../platform/Trace.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { inLowerCase } from "../Hex.ts"
import type { ChainPayment } from "../Payment.ts"
import { requirementsOf, type Terms } from "../PaymentTerms.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission, type Unpaid } from "./Settlement.ts"
import { Chain } from "../chain/Chain.ts"
import { getTransaction } from "../chain/Rpc.ts"
import type { SignedAuthorization } from "../chain/Eip3009.ts"
import * as Supported from "./Supported.ts"
import { log } from "../../platform/LogMessages.ts"

export interface FacilitatorConfig extends Supported.FacilitatorAddress {
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
      const settleUrl = Supported.endpointOf(config, "settle")
      const post = yield* JsonClient.make(settleUrl)
      const ask = yield* Supported.make(config, terms.network)

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
        const headers = yield* Supported.authorizationOf(config, "POST", settleUrl)
        return yield* post({ text: body, headers }).pipe(
          Effect.flatMap((response) => {
            if (!Supported.isRedirect(response)) return Effect.succeed(read(response.text))
            const reason = `${settleUrl.host} ${Supported.answersOf(response, "settle")}`
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
