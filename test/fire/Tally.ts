/** Which purchases met which faults, and how they ended: the table of a campaign's report. */
import type { Purchase } from "./Buyer.ts"

interface Strike {
  readonly name: string
  readonly from: number
  until: number
}

/** How a purchase ended, in a word. */
export const ends = ["at once", "later", "failed", "refused", "open"] as const
export type End = (typeof ends)[number]

export interface Row {
  strikes: number
  readonly ended: Record<End, number>
}

export type Table = Map<string, Row>

export interface Tally {
  /** A fault begins; answers what ends it. */
  readonly begin: (name: string) => () => void
  /** A fault that meets one purchase alone. */
  readonly touch: (name: string, purchase: Purchase) => void
  readonly strikes: () => number
  /** Adds up what has happened to these purchases. */
  readonly addTo: (table: Table, purchases: ReadonlyArray<Purchase>) => void
}

export const endOf = ({ outcome }: Purchase): End => {
  switch (outcome?._tag) {
    case "Settled":
      return outcome.late ? "later" : "at once"
    case "Failed":
      return "failed"
    case "Refused":
      return "refused"
    default:
      return "open"
  }
}

export const rowOf = (table: Table, name: string): Row => {
  const found = table.get(name)
  if (found !== undefined) return found
  const made: Row = { strikes: 0, ended: { "at once": 0, later: 0, failed: 0, refused: 0, open: 0 } }
  table.set(name, made)
  return made
}

export const tally = (): Tally => {
  const strikes: Array<Strike> = []
  const touched: Array<{ readonly name: string; readonly purchase: Purchase }> = []
  return {
    begin: (name) => {
      const strike: Strike = { name, from: Date.now(), until: Infinity }
      strikes.push(strike)
      return () => (strike.until = Math.min(strike.until, Date.now()))
    },
    touch: (name, purchase) => touched.push({ name, purchase }),
    strikes: () => strikes.length,
    addTo: (table, purchases) => {
      for (const { name } of strikes) rowOf(table, name).strikes += 1
      for (const name of new Set(strikes.map((one) => one.name))) {
        const mine = strikes.filter((one) => one.name === name)
        for (const purchase of purchases) {
          const until = purchase.endedAt ?? Infinity
          const met = mine.some((one) => one.from <= until && purchase.startedAt <= one.until)
          if (met) rowOf(table, name).ended[endOf(purchase)] += 1
        }
      }
      for (const { name, purchase } of touched) {
        const row = rowOf(table, name)
        row.strikes += 1
        row.ended[endOf(purchase)] += 1
      }
      const all = rowOf(table, "all purchases")
      for (const purchase of purchases) all.ended[endOf(purchase)] += 1
    },
  }
}

const pad = (text: string | number, width: number) => String(text).padStart(width)

export const tableText = (table: Table): string => {
  const width = Math.max(...[...table.keys()].map((name) => name.length))
  const head = `${"fault".padEnd(width)} ${pad("strikes", 8)} ${ends.map((end) => pad(end, 8)).join(" ")}`
  const lines = [...table]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(
      ([name, { ended, strikes }]) =>
        `${name.padEnd(width)} ${pad(strikes === 0 ? "" : strikes, 8)} ${ends.map((end) => pad(ended[end], 8)).join(" ")}`,
    )
  return [head, ...lines].join("\n")
}
