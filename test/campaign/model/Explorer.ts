/** Visits every state a specification can reach, nearest first, and tells the shortest way to what must not be. */

/** One step in words, and the next state. */
export type Emit<S> = (says: string, to: S) => void

export interface Invariant<S> {
  readonly name: string
  readonly holds: (state: S) => boolean
}

export interface Specification<S> {
  readonly initial: S
  readonly next: (state: S, emit: Emit<S>) => void
  readonly invariants: ReadonlyArray<Invariant<S>>
  /** Some path leads here from every state. */
  readonly end: { readonly name: string; readonly reached: (state: S) => boolean }
  /** States with the same key differ in nothing that is visible. */
  readonly keyOf: (state: S) => string
}

interface Visited<S> {
  readonly state: S
  readonly parent: number
  readonly says: string
  readonly before: Array<number>
}

/** The first state from which no path leads to an end; -1 when there is none. */
const stranded = <S>(visited: ReadonlyArray<Visited<S>>, isEnd: (state: S) => boolean) => {
  const saved = new Set(visited.flatMap(({ state }, number) => (isEnd(state) ? [number] : [])))
  for (const number of saved) for (const earlier of visited[number]?.before ?? []) saved.add(earlier)
  return visited.findIndex((_, number) => !saved.has(number))
}

/** Explores until an invariant is broken, everything was seen, or five million states were. */
export const explore = <S>({ end, initial, invariants, keyOf, next }: Specification<S>) => {
  const numbers = new Map<string, number>()
  const visited: Array<Visited<S>> = []
  const violations: Array<{ readonly name: string; readonly number: number }> = []
  const visit = (state: S, parent: number, says: string) => {
    const key = keyOf(state)
    const number = numbers.get(key) ?? visited.length
    if (number === visited.length) {
      numbers.set(key, number)
      visited.push({ state, parent, says, before: [] })
      const failed = invariants.find(({ holds }) => !holds(state))
      if (failed !== undefined) violations.push({ name: failed.name, number })
    }
    if (parent >= 0) visited[number]?.before.push(parent)
  }
  visit(initial, -1, "")
  let current = 0
  for (; current < visited.length && visited.length < 5_000_000 && violations.length === 0; current += 1) {
    next((visited[current] as Visited<S>).state, (says, to) => {
      visit(to, current, says)
    })
  }
  // False when the bound on states was reached first.
  const isWhole = violations.length === 0 && current === visited.length
  const lost = isWhole ? stranded(visited, end.reached) : -1
  if (lost >= 0) violations.push({ name: end.name, number: lost })
  const [broken] = violations
  /** One line for each step from the beginning. */
  const story: Array<string> = []
  for (let at = visited[broken?.number ?? 0]; at !== undefined && at.parent >= 0; at = visited[at.parent])
    story.unshift(at.says)
  return { states: visited.length, isWhole, violation: broken && { name: broken.name, story } }
}
