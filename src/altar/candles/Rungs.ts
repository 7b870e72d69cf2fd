/** The three durations of a candle with their prices, read from the endpoints that sell them. */
import { candleActs, rungTerms, type RungName as Name } from "../../../schema/altar/Candle.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"

export type RungName = typeof Name.Type

export const rungs = {
  day: { rung: "day", ...rungTerms.day },
  week: { rung: "week", ...rungTerms.week },
  month: { rung: "month", ...rungTerms.month },
} as const

/** The rungs as `/api/candles` lists them. */
export const rungList = Object.values(rungs).map(({ days, priceAtomic, rung }) => ({
  rung,
  days,
  priceUsd: priceUsd(priceAtomic),
  amountAtomic: priceAtomic.toString(),
  route: candleActs[rung].sale.route,
}))
