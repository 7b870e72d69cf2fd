/** Visits every state a specification can reach, nearest first, and tells the shortest way to what must not be. */

/** A state is a few parts; steps share the parts that they do not change. */
export type Parts = Readonly<Record<string, object>>

/** One step in words, and the next state. */
export type Emit<S> = (says: string, to: S) => void

export interface Invariant<S> {
  readonly name: string
  readonly holds: (state: S) => boolean
}

export interface Specification<S extends Parts> {
  readonly initial: S
  readonly next: (state: S, emit: Emit<S>) => void
  readonly invariants: ReadonlyArray<Invariant<S>>
  /** Some path leads here from every state. */
  readonly end: { readonly name: string; readonly reached: (state: S) => boolean }
  /** Two parts that may be swapped without a visible difference. */
  readonly alike?: readonly [keyof S & string, keyof S & string]
}

export interface Violation {
  /** The invariant that does not hold. */
  readonly name: string
  /** One line for each step from the beginning. */
  readonly story: ReadonlyArray<string>
}

export interface Exploration {
  readonly states: number
  readonly steps: number
  /** Steps to the farthest state. */
  readonly depth: number
  /** False when the bound on states was reached first. */
  readonly isWhole: boolean
  readonly violation: Violation | undefined
}

/** Each part that was ever seen has a number; a state is kept as the numbers of its parts, one character each. */
class Store<S extends Parts> {
  private readonly names: ReadonlyArray<keyof S & string>
  private readonly alike: readonly [number, number] | undefined
  private readonly byText = new Map<string, number>()
  private readonly byPart = new WeakMap<object, number>()
  private readonly parts: Array<object> = []

  constructor({ alike, initial }: Specification<S>) {
    this.names = Object.keys(initial)
    this.alike = alike && [this.names.indexOf(alike[0]), this.names.indexOf(alike[1])]
  }

  private numberOf(part: object) {
    const known = this.byPart.get(part)
    if (known !== undefined) return known
    const text = JSON.stringify(part)
    const same = this.byText.get(text)
    const number = same ?? this.parts.length
    if (same === undefined) {
      if (number > 0xff_ff) throw new Error("a part has more than 65536 values")
      this.byText.set(text, number)
      this.parts.push(part)
    }
    this.byPart.set(part, number)
    return number
  }

  keyOf(state: S): string {
    const numbers = this.names.map((name) => this.numberOf(state[name] ?? {}))
    if (this.alike !== undefined) {
      const [one, two] = this.alike
      const [first = 0, second = 0] = [numbers[one], numbers[two]]
      numbers[one] = Math.min(first, second)
      numbers[two] = Math.max(first, second)
    }
    return String.fromCharCode(...numbers)
  }

  stateOf(key: string): S {
    const entries = this.names.map((name, index) => [name, this.parts[key.charCodeAt(index)]])
    // The entries are those of a state by construction.
    return Object.fromEntries(entries) as S
  }
}

/** Tells how a state was reached, without exchanging what is alike on the way. */
const tell = <S extends Parts>(specification: Specification<S>, store: Store<S>, way: ReadonlyArray<string>) => {
  let here = specification.initial
  return way.map((key) => {
    let found: { readonly says: string; readonly to: S } | undefined
    specification.next(here, (says, to) => {
      if (found === undefined && store.keyOf(to) === key) found = { says, to }
    })
    if (found === undefined) throw new Error("a step does not depend on its state alone")
    here = found.to
    return found.says
  })
}

/** The first state, by number, from which no path leads to an end; none when there is none. */
const stranded = (
  ends: ReadonlyArray<number>,
  states: number,
  from: ReadonlyArray<number>,
  to: ReadonlyArray<number>,
) => {
  const first = new Int32Array(states + 1)
  for (const target of to) first[target] = (first[target] ?? 0) + 1
  let total = 0
  for (let state = 0; state <= states; state += 1) {
    const count = first[state] ?? 0
    first[state] = total
    total += count
  }
  const before = new Int32Array(to.length)
  const filled = first.slice()
  for (let edge = 0; edge < to.length; edge += 1) {
    const target = to[edge] ?? 0
    const place = filled[target] ?? 0
    before[place] = from[edge] ?? 0
    filled[target] = place + 1
  }
  const isSaved = new Uint8Array(states)
  const queue = [...ends]
  for (const end of ends) isSaved[end] = 1
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (let place = first[state] ?? 0; place < (first[state + 1] ?? 0); place += 1) {
      const earlier = before[place] ?? 0
      if (isSaved[earlier] === 1) continue
      isSaved[earlier] = 1
      queue.push(earlier)
    }
  }
  const lost = isSaved.indexOf(0)
  return lost < 0 ? undefined : lost
}

/** Explores until an invariant is broken, everything was seen, or `most` states were. */
export const explore = <S extends Parts>(specification: Specification<S>, most = 5_000_000): Exploration => {
  const { end, initial, invariants, next } = specification
  const store = new Store(specification)
  const numbers = new Map<string, number>()
  const keys: Array<string> = []
  const parents: Array<number> = []
  const depths: Array<number> = []
  const from: Array<number> = []
  const to: Array<number> = []
  const ends: Array<number> = []
  const broken: Array<{ readonly name: string; readonly state: number }> = []

  const wayTo = (state: number) => {
    const way: Array<string> = []
    for (let at = state; at > 0; at = parents[at] ?? 0) way.unshift(keys[at] ?? "")
    return way
  }

  const visit = (state: S, parent: number): number => {
    const key = store.keyOf(state)
    const known = numbers.get(key)
    if (known !== undefined) return known
    const number = keys.length
    numbers.set(key, number)
    keys.push(key)
    parents.push(parent)
    depths.push(number === 0 ? 0 : (depths[parent] ?? 0) + 1)
    const failed = invariants.find(({ holds }) => !holds(state))
    if (failed !== undefined) broken.push({ name: failed.name, state: number })
    if (end.reached(state)) ends.push(number)
    return number
  }

  visit(initial, 0)
  let current = 0
  for (; current < keys.length && keys.length < most && broken.length === 0; current += 1) {
    const parent = current
    next(store.stateOf(keys[parent] ?? ""), (_says, state) => {
      const target = visit(state, parent)
      from.push(parent)
      to.push(target)
    })
  }
  const isWhole = broken.length === 0 && current === keys.length
  if (isWhole) {
    const lost = stranded(ends, keys.length, from, to)
    if (lost !== undefined) broken.push({ name: end.name, state: lost })
  }
  const [first] = broken
  return {
    states: keys.length,
    steps: to.length,
    depth: depths[keys.length - 1] ?? 0,
    isWhole,
    violation: first && { name: first.name, story: tell(specification, store, wayTo(first.state)) },
  }
}
