/** The checkpoint of the chain that this browser remembers: the newest head that it hashed its way to. */
import type { ChainPoint } from "../../../../schema/altar/ChainCheck.ts"
import { timeWords } from "../page/durations.ts"
import { part } from "../page/http.ts"
import { browser } from "../page/store.ts"

export interface Remembered extends ChainPoint {
  /** Milliseconds since 1970. */
  readonly at: number
}

const slot = "altar:checkpoint"

export const remembered = (): Remembered | undefined => {
  const kept = browser.json(slot)
  const [sequence, chainHash, at] = [part(kept, "sequence"), part(kept, "chainHash"), part(kept, "at")]
  return typeof sequence === "number" && typeof chainHash === "string" && typeof at === "number"
    ? { sequence, chainHash, at }
    : undefined
}

export const remember = ({ chainHash, sequence }: ChainPoint) =>
  browser.set(slot, JSON.stringify({ sequence, chainHash, at: Date.now() }))

export const forget = () => browser.remove(slot)

export const dateOf = (at: number) => timeWords(new Date(at).toISOString())
