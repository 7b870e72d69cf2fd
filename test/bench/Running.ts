/** How contests are held in this run, and the plain kind: the same requests to two servers, turn by turn. */
import type { Contest } from "./Contests.ts"
import { type Figure, ofRates, ratiosOf } from "./Figures.ts"
import { fire, type Shot, type Span } from "./Load.ts"
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

/** Rates of both, in rounds. */
export const rates = async (
  contest: Contest,
  held: Held,
  sides: Sides,
  span: Span,
  expected: number,
  shotsOf: ShotsOf | ((side: Side) => Promise<() => Shot>),
): Promise<Figure> => {
  const rounds = await takeTurns(held.rounds, async (side) => {
    const { pid, url } = sides[side]
    const shotOf = await shotsOf(side)
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
  return figure
}
