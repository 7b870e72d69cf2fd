/** The input and result of every campaign. */

export interface Run {
  /** Of all chance: the same seed plans the same run. */
  readonly seed: number
  /** How much is done; each campaign names its unit. */
  readonly size: number
  readonly minutes: number
  /** Whether these minutes have passed: then nothing new begins. */
  readonly isOver: () => boolean
  /** Builds the checkout, and answers a new folder for logs and databases, which is kept when something was wrong. */
  readonly home: () => Promise<string>
  readonly log: (line: string) => void
}

export interface Outcome {
  /** The sums to print. */
  readonly counts: Readonly<Record<string, number>>
  readonly violations: ReadonlyArray<string>
}

export const add = (sums: Map<string, number>, name: string, count = 1) => sums.set(name, (sums.get(name) ?? 0) + count)
