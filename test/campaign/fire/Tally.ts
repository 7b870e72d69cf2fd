/** Which purchases met which faults, in which state, and how they ended: the tables of a campaign's report. */
import type { Purchase } from "../../lab/buyer/Buyer.ts"
import { type State, type States, states } from "./Standing.ts"

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
  /** How many attempts stood in each state when it struck; none of a fault that meets one purchase alone. */
  readonly met: Record<State, number>
  /** Strikes at which nobody could say. */
  unknown: number
}

export type Table = Map<string, Row>

export interface Tally {
  /** A fault begins; answers what ends it. */
  readonly begin: (name: string) => () => void
  /** A fault that meets one purchase alone. */
  readonly touch: (name: string, purchase: Purchase) => void
  /** How attempts stood when it began; nothing where nobody could say. */
  readonly stood: (name: string, states: States | undefined) => void
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

export const emptyRow = (): Row => ({
  strikes: 0,
  ended: { "at once": 0, later: 0, failed: 0, refused: 0, open: 0 },
  met: { none: 0, claimed: 0, noted: 0, sent: 0, settled: 0 },
  unknown: 0,
})

export const rowOf = (table: Table, name: string): Row => {
  const found = table.get(name)
  if (found !== undefined) return found
  const made = emptyRow()
  table.set(name, made)
  return made
}

export const tally = (): Tally => {
  const strikes: Array<Strike> = []
  const touched: Array<{ readonly name: string; readonly purchase: Purchase }> = []
  const stood: Array<readonly [name: string, found: States | undefined]> = []
  return {
    begin: (name) => {
      const strike: Strike = { name, from: Date.now(), until: Infinity }
      strikes.push(strike)
      return () => (strike.until = Math.min(strike.until, Date.now()))
    },
    touch: (name, purchase) => touched.push({ name, purchase }),
    stood: (name, found) => stood.push([name, found]),
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
      for (const [name, found] of stood) {
        const row = rowOf(table, name)
        if (found === undefined) row.unknown += 1
        else for (const state of states) row.met[state] += found[state]
      }
      const all = rowOf(table, "all purchases")
      for (const purchase of purchases) all.ended[endOf(purchase)] += 1
    },
  }
}

const pad = (text: string | number, width: number) => String(text).padStart(width)

const textOf = (
  table: Iterable<readonly [string, Row]>,
  heads: ReadonlyArray<string>,
  cells: (row: Row) => ReadonlyArray<number | string>,
) => {
  const rows = [...table].sort(([one], [other]) => one.localeCompare(other))
  const width = Math.max(...rows.map(([name]) => name.length))
  const line = (name: string, row: ReadonlyArray<number | string>) =>
    `${name.padEnd(width)} ${row.map((cell) => pad(cell, 8)).join(" ")}`
  return [line("fault", heads), ...rows.map(([name, row]) => line(name, cells(row)))].join("\n")
}

/** How the purchases ended that met a fault. */
export const tableText = (table: Table): string =>
  textOf(table, ["strikes", ...ends], ({ ended, strikes }) => [
    strikes === 0 ? "" : strikes,
    ...ends.map((end) => ended[end]),
  ])

/** In which state attempts were when a fault struck; faults that meet one purchase alone are not among them. */
export const statesText = (table: Table): string => {
  const met = [...table].filter(([, row]) => row.unknown > 0 || states.some((state) => row.met[state] > 0))
  return textOf(met, ["strikes", ...states, "unknown"], (row) => [
    row.strikes,
    ...states.map((state) => row.met[state]),
    row.unknown,
  ])
}
