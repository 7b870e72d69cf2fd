/** The settings that the page remembers between visits: a name, light and sound; never a room or a token. */
import { browser } from "../v2/page/store.ts"
import type { Message } from "./api.ts"

interface Memory {
  readonly name: string
  readonly kind: Message["senderKind"]
  readonly sound: boolean
  readonly steady: boolean
}

export const recall = (): Partial<Memory> => Object(browser.json("signals"))

export const remember = (change: Partial<Memory>) => browser.set("signals", JSON.stringify({ ...recall(), ...change }))
