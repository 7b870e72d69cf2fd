/** The three durations of a candle with their exact prices. */
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { prices } from "../../../schema/payments/Prices.ts"

export const rungs = {
  day: { rung: "day", lasts: "one day", act: prices.lightDay, priceAtomic: prices.lightDay.priceAtomic },
  week: { rung: "week", lasts: "seven days", act: prices.lightWeek, priceAtomic: prices.lightWeek.priceAtomic },
  month: { rung: "month", lasts: "thirty days", act: prices.lightMonth, priceAtomic: prices.lightMonth.priceAtomic },
} as const

export type RungName = keyof typeof rungs

/** The rungs as `/api/candles` lists them. */
export const rungList = Object.values(rungs).map(({ act, priceAtomic, rung }) => ({
  rung,
  days: act.days,
  priceUsd: priceUsd(priceAtomic),
  amountAtomic: priceAtomic.toString(),
  route: act.route,
}))
