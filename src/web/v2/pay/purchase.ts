/** One purchase has one key; the tab remembers it until its answer is there, so nothing is ever signed twice for it. */
import { randomHex } from "../digest.ts"
import type { Keepsake } from "../keepsake.ts"
import type { Listed } from "./challenge.ts"

export interface Purchase extends Listed {
  readonly key: string
  /** JSON as it was first sent; a repetition sends the same bytes. */
  readonly body: string
  readonly keepsake: Keepsake | null
  /** A wallet was asked; from here on this key asks no wallet again. */
  readonly asked: boolean
  /** `PAYMENT-SIGNATURE`, once there is one. */
  readonly payment: string | null
}

const prefix = "altar:purchase:"
const slotOf = (form: string) => `${prefix}${form}`

export const begin = (listed: Listed, body: string, keepsake: Keepsake | null): Purchase => ({
  ...listed,
  key: `page-${randomHex(16)}`,
  body,
  keepsake,
  asked: false,
  payment: null,
})

const isPurchase = (value: unknown): value is Purchase =>
  typeof value === "object" &&
  value !== null &&
  "key" in value &&
  "path" in value &&
  "body" in value &&
  "payment" in value

/** `form` is the path its form was written for. */
export const remembered = (form: string): Purchase | undefined => {
  const text = sessionStorage.getItem(slotOf(form))
  if (text === null) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isPurchase(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const remember = (form: string, purchase: Purchase): Purchase => {
  sessionStorage.setItem(slotOf(form), JSON.stringify(purchase))
  return purchase
}

export const forget = (form: string) => sessionStorage.removeItem(slotOf(form))

/** Everything of this tab that is not over, with the path of the form it was begun on. */
export const pending = (): ReadonlyArray<readonly [form: string, purchase: Purchase]> =>
  Object.keys(sessionStorage).flatMap((slot) => {
    const form = slot.startsWith(prefix) ? slot.slice(prefix.length) : undefined
    const purchase = form === undefined ? undefined : remembered(form)
    return form === undefined || purchase === undefined ? [] : [[form, purchase] as const]
  })
