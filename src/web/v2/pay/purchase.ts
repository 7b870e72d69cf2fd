/** The purchases of this browser: one key each, stored until answered, so that none is signed for twice. */
import type { Recorded } from "../../../../schema/payments/Recorded.ts"
import { secondsMaximum } from "../../../../schema/payments/Usdc.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { isMembers, parsed } from "../../../buyer/core/Json.ts"
import type { Body, Settlement } from "../../../buyer/core/Outcome.ts"
import type { Difference } from "../../../buyer/core/Recorded.ts"
import { change, drop, everything, type Held, hold, type Keepsake } from "../words/box.ts"
import { part } from "../page/http.ts"
import { browser, type Store, tab } from "../page/store.ts"

/** The terms that the page showed before the request for a signature. */
export interface Listed {
  readonly path: string
  /** Atomic USDC. */
  readonly amount: string
  readonly network: string
  /** The purchase in the words of its form. */
  readonly title: string
  /** `Recorded` as JSON; purchases of earlier versions have none. */
  readonly recorded?: string | undefined
}

export interface Purchase extends Listed {
  readonly form: string
  readonly key: string
  /** JSON as first sent; a retry sends the same bytes. */
  readonly body: string
  readonly keepsake: Keepsake | null
  /** `PAYMENT-SIGNATURE`, once there is one. */
  readonly payment: string | null
  /** It failed, and its payment could still be used until this time. It is kept until then. */
  readonly openUntil?: string
  /** The newest answer that differs from the purchase, as evidence against the altar. */
  readonly misrecorded?: Settlement & { readonly differences: ReadonlyArray<Difference> }
}

export const begin = (form: string, listed: Listed, body: string, keepsake: Keepsake | null): Purchase => ({
  ...listed,
  form,
  key: `page-${randomHex(16)}`,
  body,
  keepsake,
  payment: null,
})

const isStored = (value: unknown): value is Purchase =>
  ["form", "key", "path", "body", "payment", "title"].every((name) => part(value, name) !== undefined)

const read = (store: Store, slot: string): Purchase | undefined => {
  const value = store.json(slot)
  return isStored(value) ? value : undefined
}

const isRecorded = (value: unknown): value is Recorded =>
  isMembers(value) && isMembers(value["members"]) && typeof value["path"] === "string"

/** How the act of a purchase repeats its request; undefined where the purchase does not tell. */
export const recordedOf = ({ recorded = "" }: Purchase): Recorded | undefined => {
  const value = parsed(recorded)
  return isRecorded(value) ? value : undefined
}

const prefix = "altar:purchase:"
/** Room for a payment that is being signed. */
const reserved = "altar:reserved"
/** A tab has one purchase for each form. */
const slotOf = (form: string) => `${prefix}${form}`
/** Several tabs may each have signed one for the same form. */
const signedSlotOf = (key: string) => `${prefix}${key}`

/** The unfinished purchase of this tab on this form; a restored tab may not know that it was signed. */
export const remembered = (form: string): Purchase | undefined => {
  const begun = read(tab, slotOf(form))
  const signed = begun && read(browser, signedSlotOf(begun.key))
  return signed?.payment == null ? begun : signed
}

/** A signed purchase of a saved file; undefined when it is none of this site's. */
export const readSigned = (value: unknown): Purchase | undefined =>
  isStored(value) && typeof value.payment === "string" && /^\d+ \/api\//u.test(`${value.amount} ${value.path}`)
    ? value
    : undefined

/** Takes a signed purchase over from another browser; one that is already here stays. */
export const takeOver = (purchase: Purchase) => {
  const slot = signedSlotOf(purchase.key)
  if (read(browser, slot) === undefined) browser.set(slot, JSON.stringify(purchase))
}

/** Stores a signed purchase beyond the tab, and sealed words from before anything is sent; false without room. */
export const remember = (purchase: Purchase): boolean => {
  if (purchase.keepsake !== null) hold(purchase.keepsake)
  const text = JSON.stringify(purchase)
  const isInTab = tab.set(slotOf(purchase.form), text)
  if (purchase.payment === null) return isInTab
  browser.remove(reserved)
  return browser.set(signedSlotOf(purchase.key), text)
}

export const forget = ({ form, key }: Purchase) => {
  if (remembered(form)?.key === key) tab.remove(slotOf(form))
  browser.remove(signedSlotOf(key))
  browser.remove(reserved)
}

/** Failed while its payment could still be used: the form may begin another purchase, and this one is kept. */
export const failEarly = (purchase: Purchase, openUntil: string) => {
  // Without room for the time, the form goes on asking about this purchase.
  if (browser.set(signedSlotOf(purchase.key), JSON.stringify({ ...purchase, openUntil })))
    tab.remove(slotOf(purchase.form))
}

/** Seconds until no failed payment for this path can be used; an altar cannot name more than a signature lives. */
export const openFor = (path: string): number => {
  const times = pending().flatMap(({ openUntil, path: its }) =>
    its === path && openUntil ? [Date.parse(openUntil)] : [],
  )
  const seconds = times.map((time) => Math.ceil((time - Date.now()) / 1000) || 0)
  return Math.min(secondsMaximum, Math.max(0, ...seconds))
}

/** Left without a signature in this tab. Another tab may have continued it, so words and signature stay. */
export const leave = ({ form }: Purchase) => tab.remove(slotOf(form))

/** Final without a charge: words sealed only for it are dropped. */
export const abandon = (purchase: Purchase) => {
  forget(purchase)
  if (purchase.keepsake !== null) drop(purchase.keepsake.commitment)
}

/** Final and paid: records the act with its sealed words. */
export const settle = (purchase: Purchase, { permalink, receipt, record }: Body) => {
  forget(purchase)
  if (purchase.keepsake === null) return
  const [payer, sequence] = [part(receipt, "payer"), part(record, "sequence")]
  hold(purchase.keepsake)
  change(purchase.keepsake.commitment, {
    deed: {
      title: typeof sequence === "number" ? `${purchase.title} ${sequence}` : purchase.title,
      path: URL.parse(String(permalink))?.pathname ?? "",
      payer: typeof payer === "string" ? payer : null,
    },
  })
}

/** All unfinished purchases: those of this tab, and signed ones of any tab. */
export const pending = (): ReadonlyArray<Purchase> => {
  const all = [tab, browser].flatMap((store) =>
    store.slots().flatMap((slot) => (slot.startsWith(prefix) ? (read(store, slot) ?? []) : [])),
  )
  return [...new Map(all.map((purchase) => [purchase.key, purchase])).values()]
}

/** The reason why sealed words must stay in this browser; undefined when they may go. */
export const needOf = ({ commitment, revealed, saved }: Held, open = pending()): string | undefined =>
  open.some(({ keepsake }) => keepsake?.commitment === commitment)
    ? "Their purchase is not over."
    : saved || revealed
      ? undefined
      : "No copy of them is known. Save one, or reveal them first."

/** Whether something fits. A full browser drops the oldest words that may go. */
export const hasRoom = (fits: () => boolean): boolean => {
  if (fits()) return true
  const open = pending()
  const droppable = everything().filter((entry) => needOf(entry, open) === undefined)
  return droppable.toReversed().some(({ commitment }) => {
    drop(commitment)
    return fits()
  })
}

/** Reserves room in this browser for a signed purchase, its salt and its words; false without room. */
export const mayBegin = () => tab.keeps(10_000) && hasRoom(() => browser.set(reserved, " ".repeat(20_000)))
