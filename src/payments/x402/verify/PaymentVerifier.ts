/** Verifies that a signed payment fits an offer exactly and would settle now. */
import type { PaymentPayload } from "../../../../schema/payments/Payment.ts"
import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { Chain } from "../chain/Chain.ts"
import type { ChainUnavailable } from "../chain/Rpc.ts"
import { alreadyUsed, inLowerCase, type SignedAuthorization, unexplained } from "../chain/Eip3009.ts"
import type { Offer, Terms } from "../../PaymentTerms.ts"
import type { PayerBalance } from "../../store/Claim.ts"
import { DatabaseClock } from "../../../platform/DatabaseClock.ts"
import { type ChainPayment, type PaymentRejected, refuse, refuseMember } from "../../Payment.ts"
import { bindingOf, mismatch, untimely } from "./Offer.ts"
import { type Fault, payloadIn, type PaymentHeader } from "./Header.ts"
import { isKeySized, Signatures } from "./Signature.ts"

/** The judgement of the wallet and the chain about a payment. */
export type Judgement =
  /** `fromBlock` of the payment is where a search for its transfer begins. */
  | { readonly _tag: "Verified"; readonly balance: PayerBalance }
  /**
   * Refused, unless another attempt holds its authorization or it has paid. `isTraceable` if it fits the offer and is
   * signed by its wallet, so that following it on chain is worth it.
   */
  | { readonly _tag: "Refused"; readonly refusal: PaymentRejected; readonly isTraceable: boolean }
  /** The chain did not answer. The ledger still knows the attempt that holds it. */
  | { readonly _tag: "Unanswered"; readonly cause: ChainUnavailable }

export interface JudgedPayment {
  readonly payment: ChainPayment
  readonly judgement: Judgement
}

const decodeVersion = Schema.decodeUnknownOption(Schema.Struct({ x402Version: Schema.Unknown }))

const simulationMessages: Readonly<Record<string, string>> = {
  invalid_exact_evm_insufficient_balance: "The paying wallet holds less USDC than the price. Fund it and sign again.",
  invalid_exact_evm_signature:
    "The paying wallet has no code that accepts this signature. If it is not deployed (ERC-6492), deploy the wallet first, then send this again. If its code refuses its key (EIP-7702), pay from another wallet.",
  invalid_exact_evm_payload_authorization_valid_before: "The authorization has expired on chain. Sign a new one.",
  invalid_exact_evm_payload_authorization_valid_after: "The authorization is not valid yet on chain. Sign a new one.",
}

const badSignature = "invalid_exact_evm_signature"

const unsigned = "The signature is not the paying wallet's for this authorization. Sign again."

const highS =
  "has its s above half of the curve's order, which the token refuses (EIP-2). Sign again with a wallet that makes the lower one."

const noLongerSigned = refuse(
  badSignature,
  "The paying wallet no longer accepts this signature, so the server does not search for its authorization. Sign a new one once your wallet shows that it did not pay us.",
)

/** Reverts that may hide a used authorization: the token checks the clock before the nonce. */
const maybeUsed: ReadonlySet<string> = new Set([
  alreadyUsed,
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  unexplained,
])

const messageOf = (reason: string) => simulationMessages[reason] ?? "The token refuses this transfer."

const refusedAs = (refusal: PaymentRejected, isTraceable: boolean): Judgement => ({
  _tag: "Refused",
  refusal,
  isTraceable,
})

const invalid = ({ fault, member }: Fault) => Result.fail(refuseMember("invalid_payload", member, `${fault}.`))

const invalidHeader = (fault: string) => invalid({ member: "PAYMENT-SIGNATURE", fault })

const decodePayment = ({ isTwice, json }: PaymentHeader) => {
  if (isTwice) return invalidHeader("was sent in two header lines. Send one")
  if (Option.isNone(json)) return invalidHeader("must be base64 of a JSON object")
  const version = decodeVersion(json.value)
  if (Option.isSome(version) && version.value.x402Version !== 2) {
    return Result.fail(refuseMember("invalid_x402_version", "x402Version", "must be 2. Sign the offer in challenge."))
  }
  return Result.orElse(payloadIn(json.value), invalid)
}

const authorizationOf = (
  { payload: { authorization, signature } }: PaymentPayload,
  terms: Terms,
): SignedAuthorization => ({
  asset: terms.asset,
  from: inLowerCase(authorization.from),
  to: inLowerCase(authorization.to),
  value: BigInt(authorization.value),
  validAfter: BigInt(authorization.validAfter),
  validBefore: BigInt(authorization.validBefore),
  nonce: inLowerCase(authorization.nonce),
  signature: inLowerCase(signature),
})

const paymentOf = (authorization: SignedAuthorization, { network }: Terms): ChainPayment => ({
  rail: "x402",
  network,
  authorization,
  fromBlock: 0n,
  transaction: Option.none(),
})

export class PaymentVerifier extends Context.Service<
  PaymentVerifier,
  {
    /**
     * Reads `PAYMENT-SIGNATURE`, matches it with the offer, and rehearses it on the chain. Fails with the refusal of a
     * payment that is worth no further question; a judgement says the rest, also that the node did not answer.
     */
    readonly verify: (
      header: PaymentHeader,
      terms: Terms,
      offer: Offer,
    ) => Effect.Effect<JudgedPayment, PaymentRejected>
    /** The authorization of a payment that fits the offer; none otherwise. Its signature is not checked. */
    readonly authorizationIn: (header: PaymentHeader, terms: Terms, offer: Offer) => Option.Option<SignedAuthorization>
    /** Whether its wallet signed an authorization, in any spelling; fails if the node does not answer. */
    readonly isSigner: (authorization: SignedAuthorization, terms: Terms) => Effect.Effect<boolean, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/verify/PaymentVerifier") {
  static readonly make = Effect.gen(function* () {
    const chain = yield* Chain
    const signatures = yield* Signatures
    const clock = yield* DatabaseClock

    /** Judges a payment that fits the offer by its wallet and the chain. */
    const judge = Effect.fnUntraced(function* (presented: ChainPayment, terms: Terms) {
      const signed = yield* signatures.plausible(presented.authorization, terms)
      const authorization = signed ?? presented.authorization
      const payment: ChainPayment = { ...presented, authorization }
      /** A forger can know every used nonce, and a wallet with code always counts as plausible. */
      const refused = Effect.fnUntraced(function* (refusal: PaymentRejected) {
        const isTraceable = yield* signatures.proven(authorization, terms)
        return { payment, judgement: refusedAs(isTraceable ? refusal : noLongerSigned, isTraceable) }
      })
      // Code that is deployed later may accept it, also one of a key's length: that of the wallet's owner.
      if (signed === undefined)
        return yield* refuse(
          badSignature,
          isKeySized(presented.authorization.signature) ? unsigned : messageOf(badSignature),
        )
      if (yield* signatures.isHigh(signed, terms)) return yield* refuseMember(badSignature, "payload.signature", highS)

      const now = BigInt(Math.floor((yield* clock.now).millis / 1000))
      const late = untimely(authorization, terms, now)
      if (late !== undefined) return yield* refused(late)

      const asOfMillis = yield* clock.estimate
      const simulation = yield* chain.simulate(authorization)
      if (simulation._tag === "Reverted") {
        // The wallet may be funded within a second, and the node may be stale: the next dry run may pass.
        const refusal = refuse(simulation.reason, messageOf(simulation.reason))
        return yield* maybeUsed.has(simulation.reason) ? refused(refusal) : refusal
      }
      const balance = { balanceAtomic: simulation.balance, asOfMillis, isExact: false }
      const judgement: Judgement = { _tag: "Verified", balance }
      return { payment: { ...payment, fromBlock: simulation.block }, judgement }
    })

    const verify = Effect.fnUntraced(function* (
      header: PaymentHeader,
      terms: Terms,
      offer: Offer,
    ): Effect.fn.Return<JudgedPayment, PaymentRejected> {
      const sent = yield* Effect.fromResult(decodePayment(header))
      const payment = paymentOf(authorizationOf(sent, terms), terms)
      const misfit = mismatch(sent, terms, offer)
      const bound = misfit === undefined ? bindingOf(sent, offer) : Result.fail(misfit)
      if (Result.isFailure(bound)) return { payment, judgement: refusedAs(bound.failure, false) }
      const binding = bound.success
      return yield* judge(binding === undefined ? payment : { ...payment, binding }, terms).pipe(
        Effect.catchTag("ChainUnavailable", (cause) =>
          Effect.succeed({ payment, judgement: { _tag: "Unanswered", cause } as const }),
        ),
      )
    })

    const authorizationIn = (header: PaymentHeader, terms: Terms, offer: Offer) => {
      const payload = Option.getSuccess(decodePayment(header))
      return Option.filter(payload, (fitting) => mismatch(fitting, terms, offer) === undefined).pipe(
        Option.map((fitting) => authorizationOf(fitting, terms)),
      )
    }

    return { verify, authorizationIn, isSigner: signatures.isSigner }
  })
  static readonly layer = Layer.effect(this, this.make)
}
