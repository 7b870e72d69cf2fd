/** The purchases of this browser: one key each, stored until answered, so that none is signed for twice. */
import type { Recorded } from "../../../../schema/payments/Recorded.ts"
import { readHeader } from "../../../buyer/core/Challenge.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { isMembers, memberAt, parsed } from "../../../buyer/core/Json.ts"
import type { Body } from "../../../buyer/core/Outcome.ts"
import * as Stored from "../../../buyer/core/Purchase.ts"
import { change, drop, everything, type Held, hold, type Keepsake } from "../words/box.ts"
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

/** The record of every buyer, by a path of this site, with its form and what that listed. */
export interface Purchase extends Stored.Purchase, Omit<Listed, "path"> {
  readonly form: string
  readonly sealed?: Keepsake
}

export const begin = (form: string, listed: Listed, body: string, keepsake: Keepsake | null): Purchase => {
  const { path, ...terms } = listed
  return {
    ...terms,
    form,
    key: `page-${randomHex(16)}`,
    act: terms.title,
    url: path,
    altar: "",
    request: requestOf(body),
    begunAt: Stored.now(),
    ...(keepsake === null ? {} : { sealed: keepsake }),
  }
}

const requestOf = (body: string): Stored.Request => {
  const payload = parsed(body)
  return isMembers(payload) ? { payload } : {}
}

/** Seconds since 1970 when an authorization was signed; 0 when it does not tell. */
const signedAtOf = (payment: unknown) =>
  Number(memberAt(payment, "payload", "authorization", "validBefore")) -
    Number(memberAt(payment, "accepted", "maxTimeoutSeconds")) || 0

/** A purchase as earlier pages stored it, as the record of today; any other value as it is. */
const upgraded = (value: unknown): unknown => {
  if (!isMembers(value) || !Stored.hasTexts(value, "path", "body", "title", "amount")) return value
  const { body, keepsake, misrecorded, path, payment: header, ...others } = value
  const payment = typeof header === "string" ? readHeader(header) : undefined
  const begunAt = new Date(signedAtOf(payment) * 1000).toISOString()
  const payer = String(memberAt(payment, "payload", "authorization", "from"))
  return {
    ...others,
    act: others["title"],
    url: path,
    altar: "",
    request: requestOf(String(body)),
    begunAt,
    ...(isMembers(keepsake) ? { sealed: keepsake } : {}),
    ...(payment === undefined ? {} : { payment: { header, payer, amountAtomic: others["amount"], signedAt: begunAt } }),
    ...(isMembers(misrecorded)
      ? {
          misrecorded: {
            at: begunAt,
            differences: misrecorded["differences"],
            answer: misrecorded["body"],
            response: misrecorded["header"],
          },
        }
      : {}),
  }
}

const isOurs = (value: unknown): value is Purchase =>
  Stored.isPurchase(value) &&
  Stored.hasTexts(value, "form", "amount", "network", "title") &&
  (value.sealed === undefined || Stored.hasTexts(value.sealed, "commitment"))

/** A stored purchase, as a page of any version wrote it. */
export const decode = (value: unknown): Purchase | undefined => {
  const purchase = upgraded(value)
  return isOurs(purchase) ? purchase : undefined
}

const purchaseAt = (store: Store, slot: string): Purchase | undefined => decode(store.json(slot))

const isRecorded = (value: unknown): value is Recorded =>
  isMembers(value) && isMembers(value["members"]) && typeof value["path"] === "string"

/** How the act of a purchase repeats its request; undefined where the purchase does not tell. */
export const recordedOf = ({ recorded = "" }: Purchase): Recorded | undefined => {
  const value = parsed(recorded)
  return isRecorded(value) ? value : undefined
}

const prefix = "altar:purchase:"
/** Room for a payment that is not signed yet. */
export const reserved = "altar:reserved"

/** A tab has one purchase for each form. */
const slotOf = (form: string) => `${prefix}${form}`
/** Several tabs may each have signed one for the same form. */
const signedSlotOf = (key: string) => `${prefix}${key}`

/** The unfinished purchase of this tab on this form; a restored tab may not know that it was signed. */
export const remembered = (form: string): Purchase | undefined => {
  const begun = purchaseAt(tab, slotOf(form))
  const signed = begun && purchaseAt(browser, signedSlotOf(begun.key))
  return signed?.payment === undefined ? begun : signed
}

/** A signed purchase of a saved file; undefined when it is none of this site's. */
export const readSigned = (value: unknown): Purchase | undefined => {
  const purchase = decode(value)
  return purchase?.payment !== undefined && /^\d+ \/api\//u.test(`${purchase.amount} ${purchase.url}`)
    ? purchase
    : undefined
}

/** Takes a signed purchase over from another browser; one that is already here stays. */
export const takeOver = (purchase: Purchase) => {
  const slot = signedSlotOf(purchase.key)
  if (purchaseAt(browser, slot) === undefined) browser.set(slot, JSON.stringify(purchase))
}

/** Stores an unsigned purchase in its tab, and its sealed words beyond it, before anything is sent. */
export const remember = (purchase: Purchase) => {
  if (purchase.sealed !== undefined) hold(purchase.sealed)
  tab.set(slotOf(purchase.form), JSON.stringify(purchase))
}

export const forget = ({ form, key }: Purchase) => {
  if (remembered(form)?.key === key) tab.remove(slotOf(form))
  browser.remove(signedSlotOf(key))
  browser.remove(reserved)
}

/** Seconds until no failed payment for this path can be used. */
export const openFor = (path: string): number => Math.ceil(Stored.secondsOpen(pending(), path))

/** Left without a signature in this tab. Another tab may have continued it, so words and signature stay. */
export const leave = ({ form }: Purchase) => tab.remove(slotOf(form))

/** Final without a charge: words sealed only for it are dropped. */
export const abandon = (purchase: Purchase) => {
  forget(purchase)
  if (purchase.sealed !== undefined) drop(purchase.sealed.commitment)
}

/** Final and paid: records the act with its sealed words. */
export const settle = (purchase: Purchase, { permalink, receipt, record }: Body) => {
  forget(purchase)
  if (purchase.sealed === undefined) return
  const [payer, sequence] = [memberAt(receipt, "payer"), memberAt(record, "sequence")]
  hold(purchase.sealed)
  change(purchase.sealed.commitment, {
    deed: {
      title: typeof sequence === "number" ? `${purchase.title} ${sequence}` : purchase.title,
      path: URL.parse(String(permalink))?.pathname ?? "",
      payer: typeof payer === "string" ? payer : null,
      mayReveal: typeof memberAt(record, "unsealUrl") === "string",
    },
  })
}

/** All unfinished purchases: those of this tab, and signed ones of any tab. */
export const pending = (): ReadonlyArray<Purchase> => {
  const all = [tab, browser].flatMap((store) =>
    store.slots().flatMap((slot) => (slot.startsWith(prefix) ? (purchaseAt(store, slot) ?? []) : [])),
  )
  return [...new Map(all.map((purchase) => [purchase.key, purchase])).values()]
}

/** The reason why sealed words must stay in this browser; undefined when they may go. */
export const needOf = ({ commitment, revealed, saved }: Held, open = pending()): string | undefined =>
  open.some(({ sealed }) => sealed?.commitment === commitment)
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
