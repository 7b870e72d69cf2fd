/** What this browser keeps for the page; where it keeps nothing, the page remembers for itself until it is left. */

export interface Store {
  readonly get: (slot: string) => string | null
  readonly set: (slot: string, text: string) => void
  readonly remove: (slot: string) => void
  readonly slots: () => ReadonlyArray<string>
  /** What is in this slot outlives the page. */
  readonly lasts: (slot: string) => boolean
  /** False when there is this page's memory alone for as many more characters. */
  readonly keeps: (room?: number) => boolean
}

const probe = "altar:probe"

/** Even to name a forbidden store throws. */
const store = (open: () => Storage): Store => {
  const memory = new Map<string, string>()
  const attempt = <A>(use: (storage: Storage) => A, otherwise: A): A => {
    try {
      return use(open())
    } catch {
      return otherwise
    }
  }
  const write = (slot: string, text: string) =>
    attempt((storage) => {
      storage.setItem(slot, text)
      return true
    }, false)
  const remove = (slot: string) => attempt((storage) => storage.removeItem(slot), undefined)
  return {
    get: (slot) => memory.get(slot) ?? attempt((storage) => storage.getItem(slot), null),
    set: (slot, text) => {
      if (write(slot, text)) memory.delete(slot)
      else memory.set(slot, text)
    },
    remove: (slot) => {
      memory.delete(slot)
      remove(slot)
    },
    lasts: (slot) => !memory.has(slot) && attempt((storage) => storage.getItem(slot), null) !== null,
    slots: () => [...new Set([...memory.keys(), ...attempt(Object.keys, [])])],
    keeps: (room = 0) => {
      const kept = write(probe, " ".repeat(room))
      remove(probe)
      return kept
    },
  }
}

/** Until the tab is closed. */
export const tab = store(() => sessionStorage)

/** Over closed tabs and a restart, and for every tab of this site. */
export const browser = store(() => localStorage)
