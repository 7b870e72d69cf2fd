/** Rounds of ours and the peer's, one right after the other, so that both meet the same machine; and the table of their figures. */
import { fire, fireAt, type Shot, type Span } from "./Load.ts"

export type Side = "ours" | "peer"
type Both<A> = Readonly<Record<Side, A>>

/** Where both are asked. */
export type Sides = Both<string>

export interface Figure {
  readonly name: string
  /** How many a second. */
  readonly rounds: ReadonlyArray<Both<number>>
  /** The 99th percentiles of latency in ms, at half of the slower side's rate. */
  readonly p99?: Both<number>
}

export interface Held {
  readonly rounds: number
  /** Also compares both sides at the same rate of requests. */
  readonly isEqualLoad: boolean
  /** Tells the waiting caller; not the result. */
  readonly say: (text: string) => void
}

/** How many of `count` this does a second. */
export const rateOf = async (run: () => Promise<number>): Promise<number> => {
  const started = performance.now()
  return ((await run()) * 1000) / (performance.now() - started)
}

/** `rounds` rounds after one that warms both sides up; the order changes from round to round. */
export const takeTurns = async (rounds: number, measure: (side: Side) => Promise<number>) => {
  const done: Array<Both<number>> = []
  for (let index = 0; index <= rounds; index++) {
    const first: Side = index % 2 === 0 ? "ours" : "peer"
    const one = await measure(first)
    const other = await measure(first === "ours" ? "peer" : "ours")
    done.push(first === "ours" ? { ours: one, peer: other } : { ours: other, peer: one })
  }
  return done.slice(1)
}

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

const medianOf = (rounds: ReadonlyArray<Both<number>>): Both<number> => ({
  ours: median(rounds.map(({ ours }) => ours)),
  peer: median(rounds.map(({ peer }) => peer)),
})

export const rates = async (
  name: string,
  held: Held,
  sides: Sides,
  expected: number,
  shotsOf: (side: Side) => () => Shot,
  span: Span = { seconds: 3 },
): Promise<Figure> => {
  const rounds = await takeTurns(held.rounds, (side) => rateOf(() => fire(sides[side], span, expected, shotsOf(side))))
  if (!held.isEqualLoad || !("seconds" in span)) return { name, rounds }
  const slower = medianOf(rounds)
  const rate = Math.min(slower.ours, slower.peer) / 2
  const latencies = await takeTurns(held.rounds, async (side) => {
    const sorted = (await fireAt(rate, sides[side], span.seconds, expected, shotsOf(side))).toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  })
  return { name, rounds, p99: medianOf(latencies) }
}

const written = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 0 })

export const printTable = (figures: ReadonlyArray<Figure>): void =>
  console.table(
    Object.fromEntries(
      figures.map(({ name, p99, rounds }) => {
        const { ours, peer } = medianOf(rounds)
        // Of rounds, since both sides of one met the same machine.
        const ratio = median(rounds.map((round) => round.ours / round.peer)).toFixed(1)
        const latency = p99 && `${p99.ours.toFixed(1)}/${p99.peer.toFixed(1)}`
        return [name, { "ours/s": written(ours), "theirs/s": written(peer), ratio, "p99 ms": latency }]
      }),
    ),
  )
