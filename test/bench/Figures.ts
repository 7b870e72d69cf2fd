/** The result of a contest: rounds of two numbers each, their ratio, and whether it is what was wanted. */
import type { Contest } from "./Contests.ts"
import type { Round, Side, Slice } from "./Rounds.ts"

export interface Figure extends Pick<Contest, "name" | "what" | "wanted"> {
  readonly rounds: ReadonlyArray<Round>
  readonly atEqualLoad?: EqualLoad
}

/** Both sides at half of the slower side's rate: 99th percentiles of latency in ms, and processor time in ms a request. */
export interface EqualLoad {
  readonly rate: number
  readonly p99: Readonly<Record<Side, number>>
  readonly cpu: Readonly<Record<Side, number>>
}

export const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export const ofRates = ({ name, wanted, what }: Contest, rounds: ReadonlyArray<Round>): Figure => ({
  name,
  what,
  ...(wanted === undefined ? {} : { wanted }),
  rounds,
})

export const percentile99 = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * 0.99)] ?? Number.NaN

/** Ours to the peer's, so that more is better; of rounds, since both sides of one met the same machine. */
export const ratiosOf = ({ rounds }: Figure): ReadonlyArray<number> =>
  rounds.map(({ ours, peer }) => ours.rate / peer.rate)

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const fine = (value: number) => (value < 100 ? value.toFixed(2) : whole.format(value))

export const figureTable = (figures: ReadonlyArray<Figure>): void =>
  console.table(
    Object.fromEntries(
      figures.map((figure) => {
        const { name, rounds, wanted = 0, what } = figure
        const of = (side: Side, kind: keyof Slice) => median(rounds.map((round) => round[side][kind]))
        const ratio = median(ratiosOf(figure))
        const micros = (side: Side) => whole.format(of(side, "cpu") * 1000)
        const rates = { "ours/s": fine(of("ours", "rate")), "peer/s": fine(of("peer", "rate")) }
        const cpu = { "ours CPU µs": micros("ours"), "peer CPU µs": micros("peer") }
        return [name, { ...rates, ratio: ratio.toFixed(2), wanted, "": ratio >= wanted ? "ok" : "short", ...cpu, what }]
      }),
    ),
  )

export const equalLoadTable = (figures: ReadonlyArray<Figure>): void => {
  const measured = figures.flatMap(({ atEqualLoad, name }) =>
    atEqualLoad === undefined ? [] : [{ ...atEqualLoad, name }],
  )
  if (measured.length === 0) return
  console.log("\nAt half of the slower side's rate, p99 latency from the time at which each request was due:")
  console.table(
    Object.fromEntries(
      measured.map(({ cpu, name, p99, rate }) => [
        name,
        {
          "each/s": fine(rate),
          "ours p99 ms": p99.ours.toFixed(1),
          "peer p99 ms": p99.peer.toFixed(1),
          "ours CPU µs": whole.format(cpu.ours * 1000),
          "peer CPU µs": whole.format(cpu.peer * 1000),
        },
      ]),
    ),
  )
}
