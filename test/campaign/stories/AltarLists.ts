/** The lists that the altar shows, and its rows, as pure functions. */
import {
  type Act,
  type Altar,
  type Attempt,
  burns,
  burnsUntil,
  dayOf,
  editions,
  holders,
  priceOf,
} from "./AltarModel.ts"
import { keyOf } from "./AltarOrders.ts"

/** The expected lists. */
export const shown = (altar: Altar, now: number) => {
  const settled = altar.attempts.filter(({ state }) => state === "settled")
  const of = (act: Act) => settled.filter(({ order }) => order.act === act)
  const lightsOf = ({ key }: Attempt) => of("light").filter((one) => one.order.on === key && burns(one, now)).length
  const slotOf = (target: 0 | 1) => {
    const [holder] = holders(altar, { act: "prayer", target, name: "Wren" }, now)
    return holder === undefined ? "free" : holder.state === "settled" ? "taken" : "held"
  }
  return {
    acts: settled.length,
    cents: Number(settled.reduce((sum, { order }) => sum + priceOf(order), 0n) / 10_000n),
    stones: of("stone").length,
    keepers: of("keeper").length,
    keptTargets: of("keeper")
      .map(({ order }) => order.target)
      .sort(),
    prayersToday: of("prayer").filter(({ acceptedAt }) => dayOf(acceptedAt) === dayOf(now)).length,
    slots: [slotOf(0), slotOf(1)],
    lit: of("candle")
      .filter((one) => burns(one, now))
      .map((one) => {
        const litAt = one.settledAt ?? 0
        const { name, target } = one.order
        return { name, target, litAt, litUntil: burnsUntil(one), lights: lightsOf(one), isOpened: one.isOpened }
      })
      .map((one) => JSON.stringify(one))
      .sort(),
    pixels: ([0, 1] as const).map((target) => {
      const held = holders(altar, { act: "pixel", target, name: "Wren" }, now)
      return { reserved: held.filter(({ state }) => state === "pending").length, remaining: editions - held.length }
    }),
    revealed: of("stone").filter(({ isOpened }) => isOpened).length,
  }
}

/** The rows as they have to be: each attempt, what it holds, what it brought and how often it was charged to a card. */
export const rowsOf = (one: Altar) =>
  one.attempts
    .map(({ charge, key, order, state }) => ({
      key: keyOf(key),
      state,
      claims: state === "failed" ? 0 : order.act === "prayer" || order.act === "keeper" ? 2 : 1,
      acts: state === "settled" ? 1 : 0,
      taken: charge?.status === "succeeded" ? 1 : 0,
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
