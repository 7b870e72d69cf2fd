/** The memory of a buyer. Its users take turns, and everything written in a turn is stored when the turn ends. */

/** The named texts of a journal, for one turn. */
export interface Pages {
  readonly get: (name: string) => Promise<string | undefined>
  /** Rejects with an error whose name is `QuotaExceededError` when there is no room. */
  readonly set: (name: string, text: string) => Promise<void>
  readonly remove: (name: string) => Promise<void>
  /** Every page whose name has this prefix. */
  readonly all: (prefix: string) => Promise<ReadonlyArray<string>>
}

/** A store of purchases, shared by every buyer that opens it. */
export interface Journal {
  /** Runs a turn alone and stores what it set before resolving. If `run` rejects, a journal that can stores nothing. */
  readonly alone: <A>(run: (pages: Pages) => Promise<A>) => Promise<A>
}

/** Runs one turn after the other. */
export const turns = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <A>(run: () => Promise<A>): Promise<A> => {
    const mine = last.then(run, run)
    last = mine
    return mine
  }
}

/** Lives as long as the process: for tests, and for buyers that keep salts and keys themselves. */
export const memoryJournal = (): Journal => {
  const written = new Map<string, string>()
  const takeTurns = turns()
  const pages: Pages = {
    get: async (name) => written.get(name),
    set: async (name, text) => void written.set(name, text),
    remove: async (name) => void written.delete(name),
    all: async (prefix) => [...written].flatMap(([name, text]) => (name.startsWith(prefix) ? [text] : [])),
  }
  return { alone: (run) => takeTurns(() => run(pages)) }
}

/** Pages in `localStorage`, which all tabs of an origin share; every script of the origin can read them. */
export const localPages = (slotOf: (page: string) => string): Pages => ({
  get: async (page) => localStorage.getItem(slotOf(page)) ?? undefined,
  set: async (page, text) => localStorage.setItem(slotOf(page), text),
  remove: async (page) => localStorage.removeItem(slotOf(page)),
  all: async (prefix) =>
    Object.entries(localStorage).flatMap(([slot, text]) => (slot.startsWith(slotOf(prefix)) ? [String(text)] : [])),
})

/** `localStorage` of this origin, shared by all its tabs; every script of the origin can read it. */
export const browserJournal = (name = "spirit-altar"): Journal => {
  const pages = localPages((page) => `${name}:${page}`)
  return { alone: (turn) => navigator.locks.request(name, () => turn(pages)) }
}
