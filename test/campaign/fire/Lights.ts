/** Whose candle a light is put on: mostly one that burns, now and then one that does not, or not there. */
import { setTimeout } from "node:timers/promises"
import type { Purchase } from "../../lab/buyer/Buyer.ts"
import { isCandle, lightOn, type Order } from "../../lab/buyer/Goods.ts"
import type { Random } from "../../lab/Random.ts"

/** A buyer of a light waits so many milliseconds for a burning candle. */
const patience = 20_000

const isSold = ({ outcome }: Purchase) => outcome?._tag === "Settled"

/** Each with the altar that its light is bought for. */
type Place = readonly [id: string, altar: Order]

const placesOf = (purchases: ReadonlyArray<Purchase>, own: Order) => {
  const known = purchases.flatMap((one) => (one.attempt === undefined ? [] : [{ one, id: one.attempt }]))
  const those = (fits: (one: Purchase) => boolean): ReadonlyArray<Place> =>
    known.filter(({ one }) => fits(one)).map(({ id, one }) => [id, one.order])
  const burning = those((one) => isCandle(one.order) && isSold(one))
  return {
    burns: burning,
    isOpen: those((one) => isCandle(one.order) && one.outcome === undefined),
    isLight: those((one) => one.order.kind === "light" && isSold(one)),
    isNoCandle: those((one) => one.order.kind === "prayer" && isSold(one)),
    failed: those((one) => isCandle(one.order) && one.outcome?._tag === "Failed"),
    isElsewhere: burning.flatMap(([id, { path }]): ReadonlyArray<Place> => (path === own.path ? [] : [[id, own]])),
  }
}

const lots = [
  ...Array.from({ length: 9 }, () => "burns" as const),
  ...(["isOpen", "isOpen", "isLight", "isNoCandle", "failed", "isElsewhere"] as const),
]

/** The final choice: every second candle becomes a light, where there is what it is to be put on. */
export const asLight = async (order: Order, purchases: ReadonlyArray<Purchase>, random: Random): Promise<Order> => {
  if (!isCandle(order) || !random.chance(0.5)) return order
  const lot = random.pick(lots)
  for (const end = performance.now() + patience; ; await setTimeout(200)) {
    const places = placesOf(purchases, order)
    const found = places[lot].length > 0 ? places[lot] : places.burns
    if (found.length > 0) return lightOn(order, ...random.pick(found))
    if (performance.now() > end) return order
  }
}
