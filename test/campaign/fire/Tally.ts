/** Which purchases met which faults, in which state, and how they ended. */
import type { Purchase } from "../../lab/buyer/Buyer.ts"
import type { States } from "./AttemptStates.ts"

/** Sums by fault, and by what is counted of it. */
export type Sums = Map<string, Record<string, number>>

export const addTo = (sums: Sums, name: string, column: string, count = 1) => {
  const row = sums.get(name) ?? {}
  row[column] = (row[column] ?? 0) + count
  sums.set(name, row)
}

/** How a purchase ended, in a word. */
export const endOf = ({ outcome }: Purchase) => {
  if (outcome === undefined) return "open"
  if (outcome._tag === "Settled") return outcome.late ? "later" : "at once"
  return outcome._tag === "Failed" ? "failed" : "refused"
}

export interface Tally {
  /** A fault begins; answers what ends it. */
  readonly begin: (name: string) => () => void
  /** A fault that meets one purchase alone. */
  readonly touch: (name: string, purchase: Purchase) => void
  /** How attempts stood when it began; nothing where nobody could say. */
  readonly stood: (name: string, states: States | undefined) => void
  readonly strikes: () => number
  /** Adds up what has happened to these purchases; one may have met several faults. */
  readonly addTo: (sums: Sums, purchases: ReadonlyArray<Purchase>) => void
}

export const tally = (): Tally => {
  const strikes: Array<{ readonly name: string; readonly from: number; until: number }> = []
  const touched: Array<{ readonly name: string; readonly purchase: Purchase }> = []
  const stood: Array<readonly [name: string, found: States | undefined]> = []
  return {
    begin: (name) => {
      const strike = { name, from: Date.now(), until: Infinity }
      strikes.push(strike)
      return () => (strike.until = Math.min(strike.until, Date.now()))
    },
    touch: (name, purchase) => touched.push({ name, purchase }),
    stood: (name, found) => stood.push([name, found]),
    strikes: () => strikes.length,
    addTo: (sums, purchases) => {
      for (const [name, all] of Map.groupBy(strikes, (one) => one.name)) {
        addTo(sums, name, "strikes", all.length)
        for (const purchase of purchases) {
          const until = purchase.endedAt ?? Infinity
          const isMet = all.some((one) => one.from <= until && purchase.startedAt <= one.until)
          if (isMet) addTo(sums, name, endOf(purchase))
        }
      }
      for (const { name, purchase } of touched) {
        addTo(sums, name, "strikes")
        addTo(sums, name, endOf(purchase))
      }
      for (const [name, found] of stood)
        for (const [state, count] of Object.entries(found ?? { unknown: 1 })) addTo(sums, name, state, count)
      for (const purchase of purchases) addTo(sums, "all purchases", endOf(purchase))
    },
  }
}
