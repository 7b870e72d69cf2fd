/** The payments that a buyer's wallet may be asked for, derived from the list of sales. */
import type { BuyerSpendPolicy } from "../../schema/altar/Catalog.ts"
import { centAtomic, priceUsd, priceWords } from "../../schema/payments/Usdc.ts"
import type { SoldAct } from "../payments/Act.ts"

export const spendPolicy = (sold: Iterable<SoldAct>): typeof BuyerSpendPolicy.Type => {
  const acts = [...sold]
  // Acts that last are the dear ones.
  const prices = [...new Set(acts.flatMap(({ days, priceAtomic }) => (days === undefined ? [priceAtomic] : [])))]
  const words = prices.map((price) => priceWords(price).replace(" ", "-"))
  return {
    perPaymentMaximumUsd: priceUsd(prices.reduce((most, price) => (price > most ? price : most), 0n)),
    perPaymentMaximumScope: `Every ${words.join(" or ")} act. The candle routes list their own exact price; stock x402 clients pay more than $1 only with spendControls.maxAmountPerPayment.`,
    cumulativeSessionBudgetRequired: false,
    cumulativeSessionBudget: "Set by the operator of the buying agent.",
    rule: `Sign exactly the listed atomic amount for a route and refuse any other. Never pay more than ${priceUsd(centAtomic)} on a route that is not listed. Never sign a second payment for the same Idempotency-Key.`,
    perAction: acts.map(({ action, days, priceAtomic, route }) => ({
      action,
      route,
      priceUsd: priceUsd(priceAtomic),
      amountAtomic: priceAtomic.toString(),
      ...(days === undefined ? {} : { days }),
    })),
  }
}
