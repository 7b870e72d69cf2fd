/** Storage of this browser; a forbidden one is replaced by memory that ends with the page. */

export interface Store {
  readonly get: (slot: string) => string | null
  /** The content as JSON; undefined when it is none. */
  readonly json: (slot: string) => unknown
  readonly set: (slot: string, text: string) => void
  readonly remove: (slot: string) => void
  readonly slots: () => ReadonlyArray<string>
  /** Whether the content of this slot outlives the page. */
  readonly lasts: (slot: string) => boolean
  /** False when only memory is left for as many more characters. */
  readonly keeps: (room?: number) => boolean
}

const probe = "altar:probe"

/** A text as JSON; undefined when it is none. */
export const parsed = (text: string | null): unknown => {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Even naming a forbidden store throws. */
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
  const get = (slot: string) => memory.get(slot) ?? attempt((storage) => storage.getItem(slot), null)
  return {
    get,
    json: (slot) => parsed(get(slot)),
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

/** For every tab of this site, and after a restart. */
export const browser = store(() => localStorage)
