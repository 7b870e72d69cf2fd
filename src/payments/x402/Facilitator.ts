/** Settles through a remote x402 facilitator, believing only a refusal that cannot hide a broadcast. */
import type { Duration } from "effect"
import { Effect, Layer, Option, Schema } from "effect"
import * as Posting from "../../platform/http/Posting.ts"
import * as Trace from "../../platform/Trace.ts"
import { inLowerCase } from "../Hex.ts"
import type { FacilitatorKey } from "./FacilitatorKey.ts"
import { bearerToken } from "./FacilitatorKey.ts"
import { Settlement, type SettlementRequest, type Submission } from "../Settlement.ts"

export interface FacilitatorConfig {
  /** Base URL; `/settle` is appended. */
  readonly url: string
  readonly key: Option.Option<FacilitatorKey>
  readonly timeout: Duration.Duration
}

const Answer = Schema.Struct({
  success: Schema.Boolean,
  transaction: Schema.optionalKey(Schema.NullOr(Schema.String)),
  errorReason: Schema.optionalKey(Schema.NullOr(Schema.String)),
})

const decodeAnswer = Schema.decodeUnknownOption(Schema.fromJsonString(Answer))

/**
 * Reasons a facilitator finds before it broadcasts, so that none of its transactions can pay later. Everything else,
 * `nonce_already_used` above all, may be our own payment succeeding.
 */
const beforeBroadcast = new Set([
  "insufficient_funds",
  "invalid_network",
  "invalid_payload",
  "invalid_payment_requirements",
  "invalid_scheme",
  "unsupported_scheme",
  "invalid_x402_version",
  "asset_not_deployed_contract",
  "eip6492_factory_not_allowed",
  "unsupported_payload_type",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_missing_eip712_domain",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_payload_signature",
  "invalid_exact_evm_payload_recipient_mismatch",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_payload_authorization_value",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "invalid_exact_evm_payload_authorization_from_address_kyt",
  "invalid_exact_evm_payload_authorization_to_address_kyt",
  "invalid_exact_evm_payload_undeployed_smart_wallet",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_transaction_simulation_failed",
  "invalid_exact_evm_failed_to_parse_signature",
])

const isHash = (text: string | null | undefined): text is `0x${string}` => /^0x[0-9a-fA-F]{64}$/u.test(text ?? "")

const read = (text: string): Submission => {
  const answer = decodeAnswer(text)
  if (Option.isNone(answer)) return { _tag: "Unclear", reason: "facilitator_nonsense", transaction: Option.none() }
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

export const layer = (config: FacilitatorConfig): Layer.Layer<Settlement> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const settleUrl = new URL(`${config.url.replace(/\/$/u, "")}/settle`)
      const post = yield* Posting.to(settleUrl)

      const submit = Effect.fnUntraced(function* (request: SettlementRequest) {
        const body = `{"x402Version":2,"paymentPayload":${request.payload},"paymentRequirements":${JSON.stringify(request.requirements)}}`
        const headers: Readonly<Record<string, string>> = Option.isNone(config.key)
          ? {}
          : { authorization: `Bearer ${yield* bearerToken(config.key.value, "POST", settleUrl)}` }
        return yield* post({ text: body, headers }).pipe(
          Effect.map(({ text }) => read(text)),
          Effect.timeout(config.timeout),
          Effect.catch((error) =>
            Effect.succeed<Submission>({
              _tag: "Unclear",
              reason: `facilitator_${error._tag}`,
              transaction: Option.none(),
            }),
          ),
        )
      }, Trace.span("Facilitator.submit"))

      // Whether a facilitator has broadcast what it was handed, it alone knows; its gas is its own affair.
      return Settlement.of({
        submit,
        resubmit: () => Effect.succeedNone,
        resubmits: false,
        abandon: () => Effect.void,
        solvent: Effect.succeed(true),
        funds: Effect.succeed("ok"),
      })
    }),
  )
