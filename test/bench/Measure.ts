/** Rounds of ours and the peer's, one right after the other, so that both meet the same machine; and the table of their figures. */
import { fire, fireAt, type Shot, type Span } from "./Load.ts"
import { processorMillis } from "./Servers.ts"

export type Side = "ours" | "peer"
type Both<A> = Readonly<Record<Side, A>>

/** Where both are asked. */
export type Sides = Both<string>

/** One side of one round. */
interface Slice {
  /** How many a second. */
  readonly rate: number
  /** Milliseconds of processor time for each; NaN of a side without a process of its own. */
  readonly cpu: number
}

export interface Figure {
  readonly name: string
  readonly rounds: ReadonlyArray<Both<Slice>>
  /** At half of the slower side's rate: the 99th percentiles of latency and the processor time for each, in ms. */
  readonly equal?: { readonly p99: Both<number>; readonly cpu: Both<number> }
}

export interface Held {
  readonly rounds: number
  /** Also compares both sides at the same rate of requests. */
  readonly isEqualLoad: boolean
  /** Tells the waiting caller; not the result. */
  readonly say: (text: string) => void
}

/** Measures what `run` does, and the processor time of the program at `url`. */
export const sliceOf = async (run: () => Promise<number>, url = ""): Promise<Slice> => {
  const used = processorMillis(url)
  const started = performance.now()
  const count = await run()
  return { rate: (count * 1000) / (performance.now() - started), cpu: (processorMillis(url) - used) / count }
}

/** `rounds` rounds after one that warms both sides up; the order changes from round to round. */
export const takeTurns = async <A>(rounds: number, measure: (side: Side) => Promise<A>) => {
  const done: Array<Both<A>> = []
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

const medianOf = <A>(rounds: ReadonlyArray<Both<A>>, number: (one: A) => number): Both<number> => ({
  ours: median(rounds.map(({ ours }) => number(ours))),
  peer: median(rounds.map(({ peer }) => number(peer))),
})

export const rates = async (
  name: string,
  held: Held,
  sides: Sides,
  expected: number,
  shotsOf: (side: Side) => () => Shot,
  span: Span = { seconds: 3 },
): Promise<Figure> => {
  const rounds = await takeTurns(held.rounds, (side) =>
    sliceOf(() => fire(sides[side], span, expected, shotsOf(side)), sides[side]),
  )
  if (!held.isEqualLoad || !("seconds" in span)) return { name, rounds }
  const slower = medianOf(rounds, (slice) => slice.rate)
  const rate = Math.min(slower.ours, slower.peer) / 2
  const equal = await takeTurns(held.rounds, async (side) => {
    let latencies: ReadonlyArray<number> = []
    const { cpu } = await sliceOf(async () => {
      latencies = await fireAt(rate, sides[side], span.seconds, expected, shotsOf(side))
      return latencies.length
    }, sides[side])
    return { p99: latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN, cpu }
  })
  return { name, rounds, equal: { p99: medianOf(equal, (one) => one.p99), cpu: medianOf(equal, (one) => one.cpu) } }
}

const written = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 0 })
const pair = ({ ours, peer }: Both<number>, write: (value: number) => string) => `${write(ours)}/${write(peer)}`
const micros = (ms: number) => written(ms * 1000)

/** Ours and theirs; processor time in µs for each request. */
export const printTable = (figures: ReadonlyArray<Figure>): void =>
  console.table(
    Object.fromEntries(
      figures.map(({ equal, name, rounds }) => {
        const rate = medianOf(rounds, (slice) => slice.rate)
        // Of rounds, since both sides of one met the same machine.
        const ratio = median(rounds.map(({ ours, peer }) => ours.rate / peer.rate)).toFixed(1)
        const cpu = medianOf(rounds, (slice) => slice.cpu)
        const atEqualLoad = equal && {
          "p99 ms": pair(equal.p99, (ms) => ms.toFixed(1)),
          "its CPU": pair(equal.cpu, micros),
        }
        return [
          name,
          {
            "ours/s": written(rate.ours),
            "theirs/s": written(rate.peer),
            ratio,
            CPU: pair(cpu, micros),
            ...atEqualLoad,
          },
        ]
      }),
    ),
  )
