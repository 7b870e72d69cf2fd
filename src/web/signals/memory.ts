/** The settings that the page remembers between visits: a name, light and sound; never a room or a token. */
import { part } from "../v2/page/http.ts"
import { browser } from "../v2/page/store.ts"
import type { SenderKind } from "./api.ts"

export interface Memory {
  readonly name: string
  readonly kind: SenderKind
  readonly sound: boolean
  readonly steady: boolean
}

const key = "signals"

/** An older page may have written it. */
export const recall = (): Memory => {
  const kept = browser.json(key)
  const name = part(kept, "name")
  return {
    name: typeof name === "string" ? name : "",
    kind: part(kept, "kind") === "agent" ? "agent" : "person",
    sound: part(kept, "sound") === true,
    steady: part(kept, "steady") === true,
  }
}

export const remember = (change: Partial<Memory>) => browser.set(key, JSON.stringify({ ...recall(), ...change }))
