/** Storage of this browser. A browser may forbid it, or have no room: then nothing is kept. */
import { parsed } from "../../../buyer/core/Json.ts"

export interface Store {
  readonly get: (slot: string) => string | null
  /** The content as JSON; undefined when it is none. */
  readonly json: (slot: string) => unknown
  /** Whether it is kept; a store without room keeps what was there. */
  readonly set: (slot: string, text: string) => boolean
  readonly remove: (slot: string) => void
  readonly slots: () => ReadonlyArray<string>
  /** Whether there is room for as many more characters. */
  readonly keeps: (room: number) => boolean
}

/** Even naming a forbidden store throws. */
const store = (open: () => Storage): Store => {
  const attempt = <A>(use: (storage: Storage) => A, otherwise: A): A => {
    try {
      return use(open())
    } catch {
      return otherwise
    }
  }
  const get = (slot: string) => attempt((storage) => storage.getItem(slot), null)
  const set = (slot: string, text: string) =>
    attempt((storage) => {
      storage.setItem(slot, text)
      return true
    }, false)
  return {
    get,
    json: (slot) => parsed(get(slot)),
    set,
    remove: (slot) => attempt((storage) => storage.removeItem(slot), undefined),
    slots: () => attempt(Object.keys, []),
    keeps: (room) => {
      const isKept = set("altar:probe", " ".repeat(room))
      attempt((storage) => storage.removeItem("altar:probe"), undefined)
      return isKept
    },
  }
}

/** Until the tab is closed. */
export const tab = store(() => sessionStorage)

/** For every tab of this site, and after a restart. */
export const browser = store(() => localStorage)
