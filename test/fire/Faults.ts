/** What is out of order on a wire at the moment: each fault strikes as often as it was told to. */
import type { Random } from "./Random.ts"

export interface Faults<Fault> {
  /** From now on, with this probability; answers what ends it. */
  readonly add: (fault: Fault, rate: number) => () => void
  readonly calm: () => void
  /** The fault that strikes now, if one does. */
  readonly strikes: (fits?: (fault: Fault) => boolean) => Fault | undefined
  /** How often one has struck. */
  readonly met: () => number
}

export const faults = <Fault>(random: Random): Faults<Fault> => {
  let all: ReadonlyArray<{ readonly fault: Fault; readonly rate: number }> = []
  let met = 0
  return {
    add: (fault, rate) => {
      const one = { fault, rate }
      all = [...all, one]
      return () => (all = all.filter((other) => other !== one))
    },
    calm: () => (all = []),
    strikes: (fits = () => true) => {
      const found = all.find(({ fault, rate }) => fits(fault) && random.chance(rate))
      if (found !== undefined) met += 1
      return found?.fault
    },
    met: () => met,
  }
}
