/** The record of a purchase, for page, command and library: its state, what keeps it in its journal, and its end. */
import { secondsMaximum } from "../../../schema/payments/Usdc.ts"
import { type Offer, readHeader } from "./Challenge.ts"
import { isMembers, memberAt, type Members } from "./Json.ts"
import type { Refusal } from "./Outcome.ts"
import type { Difference } from "./Recorded.ts"

/** The parts of a request, as its contract encodes them. */
export interface Request {
  readonly params?: Members
  readonly query?: Members
  readonly payload?: Members
}

/** The terms of a buyer's first payment to an altar, to which its policy holds later ones. The asset is USDC. */
export type SpendingTerms = Pick<Offer, "network" | "payTo">

/** A signature that is being made. It ends when another call takes over, or when what is signed could pay nothing. */
export interface Reservation {
  /** Of the one call that may store a signature. */
  readonly token: string
  readonly amountAtomic: string
  readonly reservedAt: string
  readonly until: string
  /** As long as the payment, so that a journal without room fails before anything is signed. */
  readonly room: string
}

export interface Purchase {
  readonly key: string
  readonly act: string
  /** The URL of the request, which a payment must name, and its altar. */
  readonly url: string
  readonly altar: string
  readonly request: Request
  readonly begunAt: string
  readonly sealed?: { readonly salt: string; readonly words: string }
  /** The sealed words are elsewhere, too: everybody can read them, or their owner exported them. */
  readonly released?: "revealed" | "exported"
  readonly reserved?: Reservation
  /** `PAYMENT-SIGNATURE`, recorded before it was first sent. */
  readonly payment?: {
    readonly header: string
    readonly payer: string
    readonly amountAtomic: string
    readonly signedAt: string
  }
  readonly settled?: { readonly id: string; readonly permalink: string; readonly answer: unknown }
  /** The altar's reason for ending it unpaid. The signed payment stays, because it may be valid until `validBefore`. */
  readonly failed?: string
  /** Until when the authorization of a failed payment could still be used. Nothing is signed for this URL before. */
  readonly openUntil?: string
  /** The newest answer that differs from the purchase, as evidence against the altar. */
  readonly misrecorded?: {
    readonly at: string
    readonly differences: ReadonlyArray<Difference>
    readonly answer: unknown
    /** The content of `PAYMENT-RESPONSE`. */
    readonly response: unknown
  }
}

/** Whether these members are texts. */
export const hasTexts = (value: unknown, ...names: ReadonlyArray<string>): boolean =>
  isMembers(value) && names.every((name) => typeof value[name] === "string")

const parts: ReadonlyArray<readonly [part: string, ...texts: ReadonlyArray<string>]> = [
  ["request"],
  ["sealed", "salt", "words"],
  ["reserved", "token", "amountAtomic", "reservedAt", "until"],
  ["payment", "header", "payer", "amountAtomic", "signedAt"],
  ["settled", "id", "permalink"],
  ["misrecorded", "at"],
]

export const isPurchase = (value: unknown): value is Purchase =>
  isMembers(value) &&
  hasTexts(value, "key", "act", "url", "altar", "begunAt") &&
  isMembers(value["request"]) &&
  parts.every(([part, ...texts]) => value[part] === undefined || hasTexts(value[part], ...texts))

/** The JSON body of a request; empty when it has none. */
export const bodyOf = ({ payload }: Request): string => (payload === undefined ? "" : JSON.stringify(payload))

export const now = () => new Date().toISOString()

/** Where a purchase stands, by its record alone. `open` and `misrecorded` ones are to be asked for again. */
export const stateOf = ({ failed, misrecorded, payment, settled }: Purchase) =>
  settled !== undefined
    ? "settled"
    : misrecorded !== undefined
      ? "misrecorded"
      : failed !== undefined
        ? "failed"
        : payment === undefined
          ? "not signed"
          : "open"

const secondsUntil = (time: number) => Math.max(0, (time - Date.now()) / 1000 || 0)

/** Milliseconds after which another call for the key signs instead: the process of the first may have ended. */
const patienceMs = 10_000

/** Seconds until another call for the key may take the reservation over: at once when the clock was set back. */
export const secondsHeld = ({ reserved }: Purchase) => {
  const seconds = reserved === undefined ? 0 : secondsUntil(Date.parse(reserved.reservedAt) + patienceMs)
  return seconds * 1000 > patienceMs ? 0 : seconds
}

/** Seconds in which another call may still store its signature. */
export const secondsReserved = ({ reserved }: Purchase) =>
  reserved === undefined ? 0 : secondsUntil(Date.parse(reserved.until))

/** Seconds until no failed payment for this URL can be used any more. */
export const secondsOpen = (all: ReadonlyArray<Purchase>, url: string) =>
  Math.max(
    0,
    ...all.flatMap(({ openUntil, payment, url: its }) =>
      its !== url || openUntil === undefined || payment === undefined
        ? []
        : // An altar cannot make it longer than any authorization that a buyer signs.
          secondsUntil(Math.min(Date.parse(openUntil), Date.parse(payment.signedAt) + secondsMaximum * 1000)),
    ),
  )

/** Atomic USDC that a purchase takes from a UTC day; a signature that is being made counts, too. */
export const spentBy = (purchase: Purchase, day: string): bigint => {
  const { payment, reserved } = purchase
  if (payment !== undefined) return payment.signedAt.startsWith(day) ? BigInt(payment.amountAtomic) : 0n
  return reserved?.reservedAt.startsWith(day) === true && secondsReserved(purchase) > 0
    ? BigInt(reserved.amountAtomic)
    : 0n
}

const forEver = "9999-12-31T00:00:00.000Z"

/** The reason why a purchase must stay in the journal; undefined when it may be forgotten. */
export const needOf = (purchase: Purchase): string | undefined => {
  const { failed, misrecorded, payment, released, sealed, settled, url } = purchase
  if (settled === undefined && (misrecorded !== undefined || (payment !== undefined && failed === undefined)))
    return "it is open: ask for its outcome first"
  if (payment === undefined && secondsReserved(purchase) > 0) return "its signature is being made"
  // An invalid payment may become valid within its lifetime, and no server said that it cannot.
  const openUntil = failed === "payment_invalid" ? forEver : purchase.openUntil
  const seconds = secondsOpen([openUntil === undefined ? purchase : { ...purchase, openUntil }], url)
  if (seconds > 0) return `its failed payment could still be used for ${Math.ceil(seconds)} s`
  return sealed !== undefined && released === undefined
    ? "only this journal has its words: reveal or export them first"
    : undefined
}

/**
 * The end that a refusal gives to a signed purchase; undefined when it gives none. A failed payment could still be used until
 * it expires, whatever an altar says.
 */
export const failureOf = (
  { body, code }: Refusal,
  payment: string | undefined,
): Pick<Purchase, "failed" | "openUntil"> | undefined => {
  if (code !== "payment_failed") return code === "payment_invalid" ? { failed: code } : undefined
  const until = Number(memberAt(readHeader(payment ?? null), "payload", "authorization", "validBefore")) * 1000
  return { failed: String(body["reason"]), ...(until > Date.now() ? { openUntil: new Date(until).toISOString() } : {}) }
}
