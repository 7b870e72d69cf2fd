/** What the page remembers between visits: a name and wishes for the senses; never a room and never a token. */
import type { SenderKind } from "./api.ts"

export interface Memory {
  readonly name: string
  readonly kind: SenderKind
  readonly sound: boolean
  readonly steady: boolean
}

const key = "signals"
const nothing: Memory = { name: "", kind: "person", sound: false, steady: false }

/** Storage may be closed to us, or hold what an older page wrote. */
export const recall = (): Memory => {
  try {
    const kept: Partial<Memory> = JSON.parse(localStorage.getItem(key) ?? "{}")
    return {
      name: typeof kept.name === "string" ? kept.name : nothing.name,
      kind: kept.kind === "agent" ? "agent" : nothing.kind,
      sound: kept.sound === true,
      steady: kept.steady === true,
    }
  } catch {
    return nothing
  }
}

export const remember = (change: Partial<Memory>) => {
  try {
    localStorage.setItem(key, JSON.stringify({ ...recall(), ...change }))
  } catch {
    // The page works without a memory.
  }
}
