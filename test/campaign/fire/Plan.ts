/** The times of the strikes: decided before anything begins. */
import type { Random } from "../../lab/Random.ts"
import { type Fit, type Strike, strikes } from "./Strikes.ts"

export interface PlanOptions {
  readonly purchases: number
  readonly kills: number
}

const strikesForKill = 4

export interface Planned {
  readonly strike: Strike
  /** Begins when so many purchases have ended or been left. */
  readonly at: number
  readonly random: Random
}

/** In the order in which they begin. */
export const planOf = ({ kills, purchases }: PlanOptions, world: Fit, random: Random): ReadonlyArray<Planned> => {
  const fitting = strikes.filter(({ fits }) => fits?.(world) !== false)
  const deadly = fitting.filter(({ isKill }) => isKill === true)
  const others = fitting.filter(({ isKill }) => isKill !== true)
  const draw = (from: ReadonlyArray<Strike>, count: number) =>
    Array.from({ length: count }, (_, index): Planned => {
      const at = Math.floor(((index + random.next()) / count) * purchases)
      return { strike: random.pick(from), at, random: random.fork(`strike ${index}`) }
    })
  const planned = [...draw(deadly, kills), ...draw(others, Math.max(strikesForKill * kills, 4))]
  return planned.sort((one, other) => one.at - other.at)
}
