/** How contests are held in this run, and the plain kind: the same requests to two servers, turn by turn. */
import type { Contest } from "./Contests.ts"
import { type EqualLoad, type Figure, median, ofRates, percentile99, ratiosOf } from "./Figures.ts"
import { fire, fireAt, type Shot, type Span } from "./Load.ts"
import { cpuSeconds } from "../lab/Processes.ts"
import type { Served } from "../lab/server/Programs.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"

export interface Outcome {
  readonly figures: Array<Figure>
  /** The database's own statistics. */
  readonly about?: string
}

export type Sides = Readonly<Record<Side, Pick<Served, "pid" | "url">>>
export type ShotsOf = (side: Side) => () => Shot

export interface Settings {
  readonly rounds: number
  readonly isQuick: boolean
  readonly stones: number
  /** Also compares both sides at the same rate of requests. */
  readonly isEqualLoad: boolean
}

/** Settings, and what follows from them. */
export interface Held extends Settings {
  /** How long a rate is measured. */
  readonly span: Span
  /** Tells the waiting caller; not the result. */
  readonly say: (text: string) => void
}

export const holding = (settings: Settings): Held => ({
  ...settings,
  span: { seconds: settings.isQuick ? 0.7 : 3 },
  say: (text) => void process.stderr.write(`${text}\n`),
})

const equalLoad = async (
  { rounds }: Figure,
  held: Held,
  sides: Sides,
  seconds: number,
  expected: number,
  shotsOf: ShotsOf,
): Promise<EqualLoad> => {
  const rate = Math.min(median(rounds.map(({ ours }) => ours.rate)), median(rounds.map(({ peer }) => peer.rate))) / 2
  const measured = await takeTurns(held.rounds, async (side) => {
    const { pid, url } = sides[side]
    const used = cpuSeconds(pid)
    const latencies = await fireAt(rate, url, seconds, expected, shotsOf(side))
    return { p99: percentile99(latencies), cpu: ((cpuSeconds(pid) - used) * 1000) / latencies.length }
  })
  const medianOf = (kind: "cpu" | "p99") => ({
    ours: median(measured.map(({ ours }) => ours[kind])),
    peer: median(measured.map(({ peer }) => peer[kind])),
  })
  return { rate, p99: medianOf("p99"), cpu: medianOf("cpu") }
}

/** Rates of both, in rounds. */
export const rates = async (
  contest: Contest,
  held: Held,
  sides: Sides,
  span: Span,
  expected: number,
  shotsOf: ShotsOf,
): Promise<Figure> => {
  const rounds = await takeTurns(held.rounds, async (side) => {
    const { pid, url } = sides[side]
    const shotOf = shotsOf(side)
    return slice(
      () => cpuSeconds(pid),
      () => fire(url, span, expected, shotOf),
    )
  })
  const figure = ofRates(contest, rounds)
  held.say(
    `    ${ratiosOf(figure)
      .map((ratio) => ratio.toFixed(2))
      .join(" ")}`,
  )
  if (!held.isEqualLoad || !("seconds" in span)) return figure
  return { ...figure, atEqualLoad: await equalLoad(figure, held, sides, span.seconds, expected, shotsOf) }
}
