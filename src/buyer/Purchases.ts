/** The journal's purchases: a key belongs to one request, is signed for once, and counts against its day. */
import type { Challenge } from "./core/Challenge.ts"
import { randomHex } from "./core/Digest.ts"
import type { Journal, Pages } from "./core/Journal.ts"
import { parsed } from "./core/Json.ts"
import {
  hasTexts,
  isPurchase,
  needOf,
  now,
  type Purchase,
  type Reservation,
  secondsHeld,
  secondsOpen,
  secondsReserved,
  type SpendingTerms,
  spentBy,
} from "./core/Purchase.ts"
import { messageOf, refuse, Refused } from "./PurchaseError.ts"

const pagesOf = <A>(kind: string, isOf: (value: unknown) => value is A) => {
  // A page holds secrets, so the error omits the cause.
  const decode = (text: string): A => {
    const value = parsed(text)
    if (isOf(value)) return value
    throw new Error(`a page of the kind ${kind} cannot be read`)
  }
  return {
    get: async (pages: Pages, name: string) => {
      const text = await pages.get(`${kind}/${name}`)
      return text === undefined ? undefined : decode(text)
    },
    set: (pages: Pages, name: string, value: A) => pages.set(`${kind}/${name}`, JSON.stringify(value)),
    remove: (pages: Pages, name: string) => pages.remove(`${kind}/${name}`),
    /** Those whose JSON holds one of these marks; the others are not decoded. */
    all: async (pages: Pages, marks = [""]) =>
      (await pages.all(`${kind}/`)).filter((text) => marks.some((mark) => text.includes(mark))).map(decode),
  }
}

/**
 * Runs turns of a journal. A rejected turn stores nothing. `chargeNote` tells what was sent and paid so far, for the
 * error of an unusable journal.
 */
export const turnsOf =
  (journal: Journal) =>
  async <A>(turn: (pages: Pages) => Promise<A>, chargeNote?: string): Promise<A> => {
    // A journal may wrap what its turn rejects with.
    let refused: Refused | undefined
    try {
      return await journal.alone((pages) =>
        turn(pages).catch((error: unknown) => {
          if (error instanceof Refused) refused = error
          throw error
        }),
      )
    } catch (error) {
      const why = `The journal cannot be used: ${messageOf(error)}.`
      throw refused ?? refuse("journal_unavailable", chargeNote === undefined ? why : `${why} ${chargeNote}`)
    }
  }

export type Draft = Pick<Purchase, "act" | "url" | "altar" | "request" | "sealed">

const purchases = pagesOf("purchase", isPurchase)

/** The payment terms of earlier purchases, by altar URL. */
const terms = pagesOf("terms", (value): value is SpendingTerms => hasTexts(value, "network", "payTo"))

interface Forgotten {
  readonly day: string
  readonly amountAtomic: string
}

/** The sums that forgotten purchases had signed for, by day. Earlier versions kept one of them, under `last`. */
const forgotten = pagesOf("forgotten", (value): value is Forgotten => hasTexts(value, "day", "amountAtomic"))

const forgottenOn = async (pages: Pages, day: string) => {
  const sum = (await forgotten.get(pages, day)) ?? (await forgotten.get(pages, "last"))
  return sum?.day === day ? BigInt(sum.amountAtomic) : 0n
}

const drop = async (pages: Pages, purchase: Purchase) => {
  await purchases.remove(pages, purchase.key)
  const day = now().slice(0, 10)
  const amount = spentBy(purchase, day)
  if (amount === 0n) return
  await forgotten.set(pages, day, { day, amountAtomic: String((await forgottenOn(pages, day)) + amount) })
}

const isFull = (error: unknown) => error instanceof Error && error.name === "QuotaExceededError"

/** Writes for the purchase of this key. A full journal forgets its oldest other purchases, as far as they may go. */
const inRoom = (pages: Pages, key: string, write: () => Promise<void>): Promise<void> =>
  write().catch(async (error: unknown) => {
    const others = isFull(error) ? await purchases.all(pages) : []
    const [oldest] = others
      .filter((other) => other.key !== key && needOf(other) === undefined)
      .toSorted((left, right) => left.begunAt.localeCompare(right.begunAt))
    if (oldest === undefined) throw error
    await drop(pages, oldest)
    return inRoom(pages, key, write)
  })

const store = (pages: Pages, purchase: Purchase) =>
  inRoom(pages, purchase.key, () => purchases.set(pages, purchase.key, purchase))

/** The charge as known when the journal fails: before anything is sent, and after the price was asked for. */
const unsent = "Nothing was sent."
const unpaid = "This request sent no payment, so it charged nothing."

export const unlisted = (key: string) =>
  refuse("key_unknown", `This journal has no purchase under the key ${key}. Nothing was sent.`, key)

export interface Signing {
  readonly purchase: Purchase
  readonly challenge: Challenge
  readonly payer: string
  /** Throws the reason not to sign. The terms that it returns are remembered for the altar. */
  readonly approve: (spentToday: bigint, earlier: SpendingTerms | undefined) => SpendingTerms | undefined
  /** The header of a payment signed at `nowMs`, while the journal serves others. Called at most once. */
  readonly sign: (nowMs: number) => Promise<string>
  /** Called again and again, with the seconds in which nothing may be signed. */
  readonly wait: (seconds: number) => Promise<unknown>
}

const current = async (pages: Pages, purchase: Purchase) => (await purchases.get(pages, purchase.key)) ?? purchase

/** The recorded payment, the seconds to wait for one that could still be used or stored, or a new reservation. */
const reserve = async (pages: Pages, { approve, challenge, purchase: begun }: Signing) => {
  const purchase = await current(pages, begun)
  if (purchase.payment !== undefined) return purchase.payment.header
  const reservedAt = now()
  const day = reservedAt.slice(0, 10)
  // Most purchases are over and of earlier days.
  const others = await purchases.all(pages, [`"signedAt":"${day}`, `"reservedAt":"${day}`, '"openUntil":'])
  const seconds = Math.max(secondsOpen(others, purchase.url), secondsHeld(purchase))
  if (seconds > 0) return seconds
  const spent = others.reduce(
    // This key's own earlier reservation ends with the new one.
    (sum, other) => (other.key === purchase.key ? sum : sum + spentBy(other, day)),
    await forgottenOn(pages, day),
  )
  const held = approve(spent, await terms.get(pages, purchase.altar))
  const [{ amount, maxTimeoutSeconds }] = challenge.accepts
  const reserved: Reservation = {
    token: randomHex(16),
    amountAtomic: amount,
    reservedAt,
    until: new Date(Date.parse(reservedAt) + maxTimeoutSeconds * 1000).toISOString(),
    room: " ".repeat(2000 + 2 * JSON.stringify(challenge).length),
  }
  if (held !== undefined) await inRoom(pages, purchase.key, () => terms.set(pages, purchase.altar, held))
  await store(pages, { ...purchase, reserved })
  return reserved
}

export const purchasesIn = (journal: Journal) => {
  const alone = turnsOf(journal)

  /** Ends a reservation that is still this call's. Its payment is stored, unless it came too late to pay. */
  const conclude = (begun: Purchase, { amountAtomic, reservedAt, token }: Reservation, header?: string, payer = "") =>
    alone(async (pages) => {
      const stored = await current(pages, begun)
      const { reserved, ...purchase } = stored
      const isOurs = reserved?.token === token
      if (header === undefined) return isOurs ? store(pages, purchase) : undefined
      if (isOurs && secondsReserved(stored) > 0)
        return store(pages, { ...purchase, payment: { header, payer, amountAtomic, signedAt: reservedAt } })
      throw refuse(
        "not_signed",
        "The wallet answered too late, so its signature was neither stored nor sent. It charged nothing.",
        begun.key,
      )
    }, unpaid)

  return {
    /** Every purchase, open or ended, oldest first in most journals; `stateOf` tells which. */
    all: () => alone((pages) => purchases.all(pages), unsent),

    find: (key: string) => alone((pages) => purchases.get(pages, key), unsent),

    /** The existing purchase of this key, or a new one; the same key with another request is refused. */
    begin: (key: string, draft: (existing: Purchase | undefined) => Promise<Draft>) =>
      alone(async (pages) => {
        const existing = await purchases.get(pages, key)
        const made = await draft(existing)
        if (existing === undefined) {
          const purchase: Purchase = { key, ...made, begunAt: now() }
          await store(pages, purchase)
          return purchase
        }
        if (
          existing.key === key &&
          existing.url === made.url &&
          JSON.stringify(existing.request) === JSON.stringify(made.request)
        )
          return existing
        throw refuse(
          "key_in_use",
          `The key ${key} already names another purchase in this journal; take a new key for a new one. This request charged nothing.`,
          key,
        )
      }, unsent),

    /**
     * The one payment of a key: the recorded one, or a new one that is recorded before it can be sent. While another
     * call is signing for the key, or a failed payment could still be used, a second signature might pay twice: it waits.
     */
    signOnce: async (signing: Signing): Promise<string> => {
      const { payer, purchase, sign, wait } = signing
      while (true) {
        const reserved = await alone((pages) => reserve(pages, signing), unpaid)
        if (typeof reserved === "string") return reserved
        if (typeof reserved === "object") {
          const header = await sign(Date.parse(reserved.reservedAt)).catch(async (error: unknown) => {
            // One that stays ends by itself.
            await conclude(purchase, reserved).catch(() => {})
            throw error
          })
          await conclude(purchase, reserved, header, payer)
          return header
        }
        await wait(reserved)
      }
    },

    /** Changes the outcome of a purchase; payment and words stay, and a signed amount still counts against its day. */
    amend: (purchase: Purchase, change: Partial<Pick<Purchase, "settled" | "misrecorded" | "failed" | "openUntil">>) =>
      alone(async (pages) => store(pages, { ...(await current(pages, purchase)), ...change })),

    /** Records where else the sealed words of some purchases are. */
    release: (released: NonNullable<Purchase["released"]>, isOf: (purchase: Purchase) => boolean) =>
      alone(async (pages) => {
        for (const purchase of (await purchases.all(pages)).filter(isOf)) await store(pages, { ...purchase, released })
      }),

    /** Removes a purchase; its amount still counts against its day. */
    forget: (key: string) =>
      alone(async (pages) => {
        const purchase = await purchases.get(pages, key)
        if (purchase === undefined) throw unlisted(key)
        const need = needOf(purchase)
        if (need !== undefined) throw refuse("not_forgettable", `${key} stays in this journal: ${need}.`, key)
        await drop(pages, purchase)
      }, unsent),
  }
}
