/** What came of a contest: rounds of two numbers each, their ratio, and whether it is what was wanted. */
import type { Contest } from "./Contests.ts"
import type { Round, Slice } from "./Rounds.ts"

export interface Figure {
  readonly name: string
  readonly what: string
  /** Rates are better when higher, all else when lower. */
  readonly unit: "/s" | "ms" | "MB"
  readonly rounds: ReadonlyArray<Round<{ readonly value: number; readonly cpu?: number }>>
  readonly wanted?: number | undefined
  /** Wanted of ours alone, whatever the peer does: at most so much. */
  readonly most?: number
}

export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Rounds of rates as a figure of their contest. */
export const ofRates = ({ name, wanted, what }: Contest, rounds: ReadonlyArray<Round>): Figure => {
  const value = ({ cpu, rate }: Slice) => ({ value: rate, cpu })
  return {
    name,
    what,
    wanted,
    unit: "/s",
    rounds: rounds.map(({ ours, peer }) => ({ ours: value(ours), peer: value(peer) })),
  }
}

/** Ours to the peer's, so that more is better; of rounds, since both sides of one met the same machine. */
export const ratiosOf = ({ rounds, unit }: Figure): ReadonlyArray<number> =>
  rounds.map(({ ours, peer }) => (unit === "/s" ? ours.value / peer.value : peer.value / ours.value))

export const ratioOf = (figure: Figure): number => median(ratiosOf(figure))

/** A budget is missed when the median is more than a fifth below it. */
const slack = 0.8

/** What fell below the budget, a sentence for each; a contest without a budget cannot. */
export const missed = (figures: ReadonlyArray<Figure>, budget: Readonly<Record<string, number>>) =>
  figures.flatMap((figure) => {
    const reached = budget[figure.name]
    const ratio = ratioOf(figure)
    return reached === undefined || ratio >= reached * slack
      ? []
      : [`${figure.name}: ${ratio.toFixed(2)} is more than 20 % below the ${reached} that was reached`]
  })

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const fine = (value: number) => (value < 100 ? value.toFixed(2) : whole.format(value))

const cells = (figure: Figure): ReadonlyArray<string> => {
  const { most, name, rounds, unit, wanted, what } = figure
  const values = (side: "ours" | "peer") => median(rounds.map((round) => round[side].value))
  const cpu = (side: "ours" | "peer") => median(rounds.flatMap((round) => round[side].cpu ?? []))
  const micros = (value: number) => (Number.isNaN(value) ? "" : whole.format(value * 1000))
  const ratio = ratioOf(figure)
  const isEnough = most === undefined ? wanted && ratio >= wanted : values("ours") <= most
  return [
    name,
    `${fine(values("ours"))} ${unit}`,
    `${fine(values("peer"))} ${unit}`,
    ratio.toFixed(2),
    most === undefined ? (wanted?.toFixed(2) ?? "") : `≤ ${whole.format(most)} ${unit}`,
    isEnough === undefined ? "" : isEnough ? "ok" : "short",
    micros(cpu("ours")),
    micros(cpu("peer")),
    what,
  ]
}

/** Columns that are read as text stand to the left. */
export const table = (titles: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = [titles, ...rows]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const isText = (column: number) => column === 0 || column === titles.length - 1
  return lines
    .map((line) =>
      line
        .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

const titles = ["contest", "ours", "peer", "ratio", "wanted", "", "ours CPU µs", "peer CPU µs", "what; beside what"]

export const figureTable = (figures: ReadonlyArray<Figure>): string => table(titles, figures.map(cells))
