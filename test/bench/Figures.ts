/** The result of a contest: rounds of two numbers each, their ratio, and whether it is what was wanted. */
import type { Contest } from "./Contests.ts"
import type { Round, Side, Slice } from "./Rounds.ts"

export interface Figure extends Pick<Contest, "name" | "what" | "wanted"> {
  readonly rounds: ReadonlyArray<Round>
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
