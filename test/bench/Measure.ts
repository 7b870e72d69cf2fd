/** Rounds of ours and the peer's, one right after the other, so that both meet the same machine; and the tables of their figures. */
import { cpuSeconds } from "../lab/Processes.ts"
import type { Served } from "./Servers.ts"
import type { Contest } from "./Contests.ts"
import { fire, fireAt, type Shot, type Span } from "./Load.ts"

export type Side = "ours" | "peer"
type Both<A> = Readonly<Record<Side, A>>

export type Sides = Both<Pick<Served, "pid" | "url">>

/** One side of one round: how many a second, and milliseconds of its processor time for each. */
interface Slice {
  readonly rate: number
  readonly cpu: number
}

export interface Figure extends Pick<Contest, "name" | "what"> {
  readonly rounds: ReadonlyArray<Both<Slice>>
  /** Both sides at half of the slower side's rate: 99th percentiles of latency in ms, and processor time in ms a request. */
  readonly atEqualLoad?: { readonly rate: number; readonly p99: Both<number>; readonly cpu: Both<number> }
}

export interface Held {
  readonly rounds: number
  readonly isQuick: boolean
  readonly stones: number
  /** Also compares both sides at the same rate of requests. */
  readonly isEqualLoad: boolean
  readonly span: Span
  /** Tells the waiting caller; not the result. */
  readonly say: (text: string) => void
}

/** Measures what `run` says it has done, by the processor time of this process. */
export const slice = async (pid: number, run: () => Promise<number>): Promise<Slice> => {
  const used = cpuSeconds(pid)
  const started = performance.now()
  const count = await run()
  const seconds = (performance.now() - started) / 1000
  return { rate: count / seconds, cpu: ((cpuSeconds(pid) - used) * 1000) / count }
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

/** Ours to the peer's, so that more is better; of rounds, since both sides of one met the same machine. */
const ratiosOf = (rounds: Figure["rounds"]) => rounds.map(({ ours, peer }) => ours.rate / peer.rate)

export const rates = async (
  { name, what }: Contest,
  held: Held,
  sides: Sides,
  expected: number,
  shotsOf: (side: Side) => () => Shot,
  span = held.span,
): Promise<Figure> => {
  const rounds = await takeTurns(held.rounds, async (side) => {
    const { pid, url } = sides[side]
    const shotOf = shotsOf(side)
    return slice(pid, () => fire(url, span, expected, shotOf))
  })
  const ratios = ratiosOf(rounds).map((ratio) => ratio.toFixed(2))
  held.say(`    ${ratios.join(" ")}`)
  if (!held.isEqualLoad || !("seconds" in span)) return { name, what, rounds }
  const slower = medianOf(rounds, ({ rate }) => rate)
  const rate = Math.min(slower.ours, slower.peer) / 2
  const measured = await takeTurns(held.rounds, async (side) => {
    const { pid, url } = sides[side]
    const used = cpuSeconds(pid)
    const latencies = await fireAt(rate, url, span.seconds, expected, shotsOf(side))
    const p99 = latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN
    return { p99, cpu: ((cpuSeconds(pid) - used) * 1000) / latencies.length }
  })
  const atEqualLoad = { rate, p99: medianOf(measured, ({ p99 }) => p99), cpu: medianOf(measured, ({ cpu }) => cpu) }
  return { name, what, rounds, atEqualLoad }
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const fine = (value: number) => (value < 100 ? value.toFixed(2) : whole.format(value))
const columns = (unit: string, { ours, peer }: Both<number>, written: (value: number) => string) => ({
  [`ours ${unit}`]: written(ours),
  [`peer ${unit}`]: written(peer),
})
const micros = (ms: number) => whole.format(ms * 1000)
const table = (rows: ReadonlyArray<readonly [string, object]>) => console.table(Object.fromEntries(rows))

export const printTables = (figures: ReadonlyArray<Figure>): void => {
  table(
    figures.map(({ name, rounds, what }) => {
      const rate = columns(
        "/s",
        medianOf(rounds, (one) => one.rate),
        fine,
      )
      const cpu = columns(
        "CPU µs",
        medianOf(rounds, (one) => one.cpu),
        micros,
      )
      return [name, { ...rate, ratio: median(ratiosOf(rounds)).toFixed(2), ...cpu, what }]
    }),
  )
  const measured = figures.flatMap(({ atEqualLoad, name }) =>
    atEqualLoad === undefined ? [] : [[name, atEqualLoad] as const],
  )
  if (measured.length === 0) return
  console.log("\nAt half of the slower side's rate, p99 latency from the time at which each request was due:")
  table(
    measured.map(([name, { cpu, p99, rate }]) => {
      const latency = columns("p99 ms", p99, (ms) => ms.toFixed(1))
      return [name, { "each/s": fine(rate), ...latency, ...columns("CPU µs", cpu, micros) }]
    }),
  )
}
