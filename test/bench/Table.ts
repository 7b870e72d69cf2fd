/** Medians of rounds as a small table: rates, their ratio round by round, and processor time for each request. */

import type { Round } from "./Rounds.ts"

export interface Row {
  readonly what: string
  readonly rounds: ReadonlyArray<Round>
  /** What is wanted: a multiple of the peer's rate, or so many a second. */
  readonly wanted: { readonly ratio: number } | { readonly rate: number }
}

export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const millis = (value: number) => (Number.isNaN(value) ? "?" : value.toFixed(3))

const cells = ({ rounds, wanted, what }: Row): ReadonlyArray<string> => {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick))
  const rate = of((round) => round.ours.rate)
  const ratio = of((round) => round.ours.rate / round.peer.rate)
  const isEnough = "ratio" in wanted ? ratio >= wanted.ratio : rate > wanted.rate
  return [
    what,
    whole.format(rate),
    whole.format(of((round) => round.peer.rate)),
    ratio.toFixed(2),
    millis(of((round) => round.ours.cpu)),
    millis(of((round) => round.peer.cpu)),
    of((round) => round.peer.cpu / round.ours.cpu).toFixed(2),
    "ratio" in wanted ? `ratio ≥ ${wanted.ratio}` : `> ${whole.format(wanted.rate)}/s`,
    isEnough ? "ok" : "short",
  ]
}

const titles = ["what", "ours /s", "peer /s", "ratio", "ours CPU ms", "peer CPU ms", "CPU ratio", "wanted", ""]

export const table = (rows: ReadonlyArray<Row>): string => {
  const lines = [titles, ...rows.map(cells)]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number) =>
    column === 0 || column >= 7 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n")
}
