/** The payments that a buyer's wallet may be asked for, derived from the list of sales. */
import type { BuyerSpendPolicy } from "../../schema/altar/Catalog.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { centAtomic } from "../../schema/payments/Usdc.ts"
import type { SoldAct } from "../payments/Act.ts"

export const spendPolicy = (acts: Iterable<SoldAct>): typeof BuyerSpendPolicy.Type => ({
  perPaymentMaximumUsd: priceUsd(centAtomic),
  perPaymentMaximumScope:
    "Every one-cent act. The candle routes list their own exact price; stock x402 clients pay more than $1 only with spendControls.maxAmountPerPayment.",
  cumulativeSessionBudgetRequired: false,
  cumulativeSessionBudget: "Set by the operator of the buying agent.",
  rule: `Sign exactly the listed atomic amount for a route and refuse any other. Never pay more than ${priceUsd(centAtomic)} on a route that is not listed. Never sign a second payment for the same Idempotency-Key.`,
  perAction: [...acts].map(({ action, days, priceAtomic, route }) => ({
    action,
    route,
    priceUsd: priceUsd(priceAtomic),
    amountAtomic: priceAtomic.toString(),
    ...(days === undefined ? {} : { days }),
  })),
})
