/** Storage of this browser. A browser may forbid it, or have no room: then nothing is kept. */
import { attempt, parsed } from "../../../buyer/core/Json.ts"

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
  const get = (slot: string) => attempt(() => open().getItem(slot)) ?? null
  const set = (slot: string, text: string) =>
    attempt(() => {
      open().setItem(slot, text)
      return true
    }) ?? false
  const remove = (slot: string) => attempt(() => open().removeItem(slot))
  return {
    get,
    json: (slot) => parsed(get(slot)),
    set,
    remove,
    slots: () => attempt(() => Object.keys(open())) ?? [],
    keeps: (room) => {
      const isKept = set("altar:probe", " ".repeat(room))
      remove("altar:probe")
      return isKept
    },
  }
}

/** Until the tab is closed. */
export const tab = store(() => sessionStorage)

/** For every tab of this site, and after a restart. */
export const browser = store(() => localStorage)
