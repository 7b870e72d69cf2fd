/** Every 402 of a paid request: the offer, the refused payment, and the attempt that failed. */
import { Effect } from "effect"
import { PaymentFailed, PaymentInvalid, PaymentRequired, PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import type { FailedAttempt } from "./ledger/Attempt.ts"
import type { SoldAct } from "./PaidAct.ts"
import type { PaidRequest } from "./PaidRequest.ts"
import type { PaymentRejected } from "./PaymentRejected.ts"
import { challengeOf, PaymentTerms, saleOf, type Terms } from "./PaymentTerms.ts"

/** URLs can carry parameters: what is kept must end. */
const offersKept = 1_000

/** All of them fail: with the 402 itself, or with the names of what is not configured. */
export const make = Effect.map(PaymentTerms, (setting) => {
  const terms: Effect.Effect<Terms, PaymentsUnavailable> =
    setting._tag === "Ready"
      ? Effect.succeed(setting.terms)
      : Effect.fail(new PaymentsUnavailable({ missing: setting.missing }))

  /** Offers made so far: the same act at the same URL is offered in the same words. */
  const offers = new Map<string, PaymentRequired>()

  const required = Effect.fnUntraced(function* (act: SoldAct, request: PaidRequest) {
    const ours = yield* terms
    const name = `${act.name} ${request.url}`
    const known = offers.get(name)
    if (known !== undefined) return yield* known
    const challenge = challengeOf(ours, saleOf(act, request.url, request.parameters), "payment_required")
    const offer = new PaymentRequired({ challenge })
    if (offers.size < offersKept) offers.set(name, offer)
    return yield* offer
  })

  const invalid = Effect.fnUntraced(function* (
    act: SoldAct,
    request: PaidRequest,
    { message, reason }: PaymentRejected,
  ) {
    const challenge = challengeOf(yield* terms, saleOf(act, request.url, request.parameters), reason)
    return yield* new PaymentInvalid({ reason, message, challenge })
  })

  const failed = Effect.fnUntraced(function* ({ act, amountAtomic, reason, url }: FailedAttempt) {
    const challenge = challengeOf(yield* terms, { amountAtomic, url, description: act }, reason)
    return yield* new PaymentFailed({ reason, challenge })
  })

  return { terms, required, invalid, failed }
})
