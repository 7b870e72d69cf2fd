/** The result of a contest: rounds of two numbers each, their ratio, and whether it is what was wanted. */
import type { Contest } from "./Contests.ts"
import type { Round, Slice } from "./Rounds.ts"

export interface Figure {
  readonly name: string
  readonly what: string
  /** Rates and stones are better when more, all else when less. */
  readonly unit: "/s" | "stones" | "ms"
  readonly rounds: ReadonlyArray<Round<{ readonly value: number; readonly cpu?: number }>>
  /** The ratio that is aimed at. */
  readonly wanted?: number | undefined
  /** The least ratio that holds, whatever was reached before. */
  readonly least?: number | undefined
  /** Held of ours alone, whatever the peer does: at most so much. */
  readonly most?: number | undefined
}

export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Rounds of rates as a figure of their contest. */
export const ofRates = ({ least, name, wanted, what }: Contest, rounds: ReadonlyArray<Round>): Figure => {
  const value = ({ cpu, rate }: Slice) => ({ value: rate, cpu })
  return {
    name,
    what,
    wanted,
    least,
    unit: "/s",
    rounds: rounds.map(({ ours, peer }) => ({ ours: value(ours), peer: value(peer) })),
  }
}

/** Ours to the peer's, so that more is better; of rounds, since both sides of one met the same machine. */
export const ratiosOf = ({ rounds, unit }: Figure): ReadonlyArray<number> =>
  rounds.map(({ ours, peer }) =>
    unit === "/s" || unit === "stones" ? ours.value / peer.value : peer.value / ours.value,
  )

export const ratioOf = (figure: Figure): number => median(ratiosOf(figure))

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const fine = (value: number) => (value < 100 ? value.toFixed(2) : whole.format(value))

/** A budget is missed when the median is more than a fifth below it. */
const slack = 0.8

const ofOurs = ({ rounds }: Figure) => median(rounds.map(({ ours }) => ours.value))

/** A sentence for each result beyond its bounds or below the budget; a missing measurement proves nothing. */
export const missed = (figures: ReadonlyArray<Figure>, budget: Readonly<Record<string, number>>) =>
  figures.flatMap((figure) => {
    const { least, most, name, unit, what } = figure
    const [ours, ratio, reached] = [ofOurs(figure), ratioOf(figure), budget[name]]
    return [
      ...(most === undefined || ours <= most ? [] : [`${name}: ${fine(ours)} ${unit} is more than ${most} ${unit}`]),
      ...(least === undefined || ratio >= least
        ? []
        : [`${name}, ${what}: ${ratio.toFixed(3)} is below ${least.toFixed(3)}`]),
      ...(reached === undefined || ratio >= reached * slack
        ? []
        : [`${name}: ${ratio.toFixed(2)} is more than 20 % below the ${reached} that was reached`]),
    ]
  })

const cells = (figure: Figure): ReadonlyArray<string> => {
  const { least, most, name, rounds, unit, what, wanted = least } = figure
  const cpu = (side: "ours" | "peer") => median(rounds.flatMap((round) => round[side].cpu ?? []))
  const micros = (value: number) => (Number.isNaN(value) ? "" : whole.format(value * 1000))
  const [ours, ratio] = [ofOurs(figure), ratioOf(figure)]
  const isEnough = most === undefined ? wanted && ratio >= wanted : ours <= most
  return [
    name,
    `${fine(ours)} ${unit}`,
    `${fine(median(rounds.map(({ peer }) => peer.value)))} ${unit}`,
    ratio.toFixed(2),
    most === undefined ? (wanted?.toFixed(2) ?? "") : `≤ ${whole.format(most)} ${unit}`,
    isEnough === undefined ? "" : isEnough ? "ok" : "short",
    micros(cpu("ours")),
    micros(cpu("peer")),
    what,
  ]
}

/** Columns of text are aligned to the left. */
const table = (titles: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
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
