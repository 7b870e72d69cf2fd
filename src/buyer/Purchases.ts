/** The journal's purchases: a key belongs to one request, is signed for once, and counts against its day. */
import { Option, Schema } from "effect"
import { messageOf, refuse, Refused } from "./PurchaseError.ts"
import type { Offer } from "./core/Challenge.ts"
import type { Journal, Pages } from "./core/Journal.ts"
import { secondsMaximum } from "../../schema/payments/Usdc.ts"
import type { SpendingTerms } from "./Policy.ts"

const pagesOf = <A>(kind: string, schema: Schema.Codec<A>) => {
  const json = Schema.fromJsonString(schema)
  const decode = Schema.decodeUnknownOption(json)
  const encode = Schema.encodeSync(json)
  // A page holds secrets, so the error omits the cause.
  const read = (text: string): A =>
    Option.getOrThrowWith(decode(text), () => new Error(`a page of the kind ${kind} cannot be read`))
  return {
    get: async (pages: Pages, name: string) => {
      const text = await pages.get(`${kind}/${name}`)
      return text === undefined ? undefined : read(text)
    },
    set: (pages: Pages, name: string, value: A) => pages.set(`${kind}/${name}`, encode(value)),
    remove: (pages: Pages, name: string) => pages.remove(`${kind}/${name}`),
    all: async (pages: Pages) => (await pages.all(`${kind}/`)).map(read),
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

const members = Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))

const Request = Schema.Struct({ params: members, query: members, payload: members })
export type Request = typeof Request.Type

const Difference = Schema.Struct({ field: Schema.String, bought: Schema.String, recorded: Schema.String })

export const Purchase = Schema.Struct({
  key: Schema.String,
  act: Schema.String,
  /** The URL of the request, which a payment must name, and its altar. */
  url: Schema.String,
  altar: Schema.String,
  request: Request,
  begunAt: Schema.String,
  sealed: Schema.optionalKey(Schema.Struct({ salt: Schema.String, words: Schema.String })),
  /** The sealed words are elsewhere, too: everybody can read them, or their owner exported them. */
  released: Schema.optionalKey(Schema.Literals(["revealed", "exported"])),
  /** `PAYMENT-SIGNATURE`, recorded before it was first sent. */
  payment: Schema.optionalKey(
    Schema.Struct({
      header: Schema.String,
      payer: Schema.String,
      amountAtomic: Schema.String,
      signedAt: Schema.String,
    }),
  ),
  settled: Schema.optionalKey(Schema.Struct({ id: Schema.String, permalink: Schema.String, answer: Schema.Unknown })),
  /** The altar's reason for ending it unpaid. The signed payment stays, because it may be valid until `validBefore`. */
  failed: Schema.optionalKey(Schema.String),
  /** Until when the authorization of a failed payment could still be used. Nothing is signed for this URL before. */
  openUntil: Schema.optionalKey(Schema.String),
  /** The newest answer that differs from the purchase, as evidence against the altar. */
  misrecorded: Schema.optionalKey(
    Schema.Struct({
      at: Schema.String,
      differences: Schema.Array(Difference),
      answer: Schema.Unknown,
      /** The content of `PAYMENT-RESPONSE`. */
      response: Schema.Unknown,
    }),
  ),
})
export type Purchase = typeof Purchase.Type

export type Draft = Pick<Purchase, "act" | "url" | "altar" | "request" | "sealed">

const purchases = pagesOf("purchase", Purchase)
/** The payment terms of earlier purchases, by altar URL. */
const terms = pagesOf("terms", Schema.Struct({ network: Schema.String, payTo: Schema.String }))

/** The sum that forgotten purchases had signed for, on the newest of their days. */
const forgotten = pagesOf("forgotten", Schema.Struct({ day: Schema.String, amountAtomic: Schema.String }))

export const now = () => new Date().toISOString()

const signedOn = (day: string, { payment }: Purchase) =>
  payment?.signedAt.startsWith(day) ? BigInt(payment.amountAtomic) : 0n

const forgottenOn = async (pages: Pages, day: string) => {
  const last = await forgotten.get(pages, "last")
  return last?.day === day ? BigInt(last.amountAtomic) : 0n
}

/** Atomic USDC signed for on a UTC day. */
const spentOn = async (pages: Pages, day: string, all: ReadonlyArray<Purchase>) =>
  all.reduce((sum, purchase) => sum + signedOn(day, purchase), await forgottenOn(pages, day))

const forEver = "9999-12-31T00:00:00.000Z"

/** Seconds until no failed payment for this URL can be used any more. */
const secondsOpen = (all: ReadonlyArray<Purchase>, url: string) => {
  const times = all.flatMap(({ openUntil, payment, url: its }) => {
    if (its !== url || openUntil === undefined || payment === undefined) return []
    // An altar cannot make it longer than any authorization that a buyer signs.
    const latest = Date.parse(payment.signedAt) + secondsMaximum * 1000
    return [(Math.min(Date.parse(openUntil), latest) - Date.now()) / 1000 || 0]
  })
  return Math.max(0, ...times)
}

/** The reason why a purchase must stay in the journal; undefined when it may be forgotten. */
const needOf = (purchase: Purchase): string | undefined => {
  const { failed, misrecorded, payment, released, sealed, settled, url } = purchase
  if (settled === undefined && (misrecorded !== undefined || (payment !== undefined && failed === undefined)))
    return "it is open: ask for its outcome first"
  // An invalid payment may become valid within its lifetime, and no server said that it cannot.
  const openUntil = failed === "payment_invalid" ? forEver : purchase.openUntil
  const seconds = secondsOpen([openUntil === undefined ? purchase : { ...purchase, openUntil }], url)
  if (seconds > 0) return `its failed payment could still be used for ${Math.ceil(seconds)} s`
  return sealed !== undefined && released === undefined
    ? "only this journal has its words: reveal or export them first"
    : undefined
}

const drop = async (pages: Pages, purchase: Purchase) => {
  await purchases.remove(pages, purchase.key)
  const day = now().slice(0, 10)
  const amount = signedOn(day, purchase)
  if (amount === 0n) return
  await forgotten.set(pages, "last", { day, amountAtomic: String((await forgottenOn(pages, day)) + amount) })
}

const isFull = (error: unknown) => error instanceof Error && /quota|\bfull\b/iu.test(`${error.name} ${error.message}`)

/** Writes for the purchase of this key. A full journal forgets its oldest other purchases, as far as they may go. */
const inRoom = (pages: Pages, key: string, write: () => Promise<void>): Promise<void> =>
  write().catch(async (error: unknown) => {
    const others = isFull(error) ? await purchases.all(pages) : []
    const [oldest] = others
      .filter((other) => other.key !== key && needOf(other) === undefined)
      .toSorted((one, other) => one.begunAt.localeCompare(other.begunAt))
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
  readonly offer: Offer
  readonly payer: string
  /** Rejects with a refusal, or returns the header; called at most once for a key. */
  readonly sign: (spentToday: bigint, known: SpendingTerms | undefined) => Promise<string>
}

export const purchasesIn = (journal: Journal) => {
  const alone = turnsOf(journal)
  const current = async (pages: Pages, purchase: Purchase) => (await purchases.get(pages, purchase.key)) ?? purchase
  return {
    all: () => alone(purchases.all, unsent),

    find: (key: string) => alone((pages) => purchases.get(pages, key), unsent),

    /** The existing purchase of this key, or a new one; the same key with another request is refused. */
    begin: (key: string, draft: (found: Purchase | undefined) => Promise<Draft>) =>
      alone(async (pages) => {
        const found = await purchases.get(pages, key)
        const made = await draft(found)
        if (found === undefined) {
          const purchase: Purchase = { key, ...made, begunAt: now() }
          await store(pages, purchase)
          return purchase
        }
        if (
          found.key === key &&
          found.url === made.url &&
          JSON.stringify(found.request) === JSON.stringify(made.request)
        )
          return found
        throw refuse(
          "key_in_use",
          `The key ${key} already names another purchase in this journal; take a new key for a new one. This request charged nothing.`,
          key,
        )
      }, unsent),

    /**
     * The one payment of a key: the recorded one, or a new one that is recorded before it can be sent. A number is the
     * seconds to wait instead, because a second signature beside one that still could be used might pay twice.
     */
    signOnce: ({ offer: { amount, network, payTo }, payer, purchase: begun, sign }: Signing) =>
      alone(async (pages) => {
        const purchase = await current(pages, begun)
        if (purchase.payment !== undefined) return purchase.payment.header
        const all = await purchases.all(pages)
        const seconds = secondsOpen(all, purchase.url)
        if (seconds > 0) return seconds
        const signedAt = now()
        const spent = await spentOn(pages, signedAt.slice(0, 10), all)
        const header = await sign(spent, await terms.get(pages, purchase.altar))
        await inRoom(pages, purchase.key, () => terms.set(pages, purchase.altar, { network, payTo }))
        await store(pages, { ...purchase, payment: { header, payer, amountAtomic: amount, signedAt } })
        return header
      }, unpaid),

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
