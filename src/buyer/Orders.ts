/** Every act in the words of whoever wants it: sealed here, bought under one key, and revealed later from the journal. */
import { Effect, Option, Schema } from "effect"
import type { CandleBody } from "../../schema/altar/Candle.ts"
import type { WhyBody } from "../../schema/altar/Keeper.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import type { PrayerBody } from "../../schema/altar/Prayer.ts"
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import type { WitnessBody } from "../../schema/altar/Witness.ts"
import { type ActName, acts, type Errand, type Settled } from "./Acts.ts"
import { type Buyer, free } from "./Buyer.ts"
import { type Open, refuse, type Refused } from "./Ends.ts"
import { randomHex, seal } from "./Seal.ts"

/** The idempotency key, 12 to 128 of `A-Z a-z 0-9 _ -`; made at random when absent. Repeat it to repeat the purchase. */
interface Keyed {
  readonly key?: string
}

/** Words are sealed here and stay here; a commitment was sealed elsewhere. */
export type Sealing =
  | { readonly words: string; readonly salt?: string; readonly commitment?: never }
  | { readonly commitment: string; readonly words?: never; readonly salt?: never }

export type WitnessOrder = Omit<typeof WitnessBody.Type, "commitment"> & Sealing & Keyed
export type PrayerOrder = Omit<typeof PrayerBody.Type, "intentionCommitment"> &
  Sealing &
  Keyed & { readonly spirit: SpiritId; readonly day?: string }
export type KeeperOrder = typeof WhyBody.Type & Keyed & { readonly spirit: SpiritId }
export type CollectOrder = typeof WhyBody.Type & Keyed & { readonly element: string; readonly spirit?: SpiritId }
export type CandleOrder = Omit<typeof CandleBody.Type, "intentionCommitment"> &
  (Sealing | { readonly words?: never; readonly salt?: never; readonly commitment?: never }) &
  Keyed & { readonly spirit: SpiritId; readonly days: 1 | 7 | 30 }

/** What was sealed, given or found in the journal. */
export interface Opening {
  readonly salt?: string
  readonly words?: string
  readonly agentName?: string
}

interface Kept {
  readonly salt: string
  readonly words: string
}

const rungs = { 1: "lightDay", 7: "lightWeek", 30: "lightMonth" } as const

/** Without the members that are undefined, as JSON leaves them out. */
const present = <A extends object>(members: A): { readonly [Name in keyof A]?: Exclude<A[Name], undefined> } =>
  JSON.parse(JSON.stringify(members))

const isKey = Schema.is(IdempotencyKey)

export const make = (buyer: Buyer) => {
  const { client, purchases, urls } = buyer

  const keyOf = ({ key = `buyer-${randomHex(12)}` }: Keyed) =>
    isKey(key)
      ? Effect.succeed(key)
      : refuse("idempotency_key_invalid", "A key is 12 to 128 characters of A-Z a-z 0-9 _ -. Nothing was charged.", key)

  /** The salt of a key's own words is taken up again. */
  const sealed = Effect.fnUntraced(function* ({ commitment, salt, words }: Partial<Sealing>, key: string) {
    if (words === undefined) return { commitment: commitment ?? "", kept: undefined }
    const before = Option.flatMapNullishOr(yield* purchases.find(key), (purchase) => purchase.sealed)
    const again = Option.isSome(before) && before.value.words === words ? before.value.salt : undefined
    const made = yield* Effect.tryPromise({
      try: () => seal(words, salt ?? again),
      catch: (error) => refuse("not_sealed", error instanceof Error ? error.message : String(error), key),
    })
    return { commitment: made.commitment, kept: { salt: made.salt, words } }
  })

  /** When two runs seal the same words under a new key at once, the later takes up the salt of the earlier. */
  const sealing = <A>(
    order: Partial<Sealing>,
    key: string,
    use: (commitment: string, kept: Kept | undefined) => Effect.Effect<A, Refused | Open>,
  ) =>
    Effect.flatMap(sealed(order, key), ({ commitment, kept }) => use(commitment, kept)).pipe(
      Effect.retry({ times: 1, while: (error) => error._tag === "Refused" && error.code === "key_in_use" }),
    )

  const buy = <A extends Settled>(
    name: ActName,
    making: Effect.Effect<Errand<A>, Schema.SchemaError>,
    key: string,
    kept?: Kept,
  ) =>
    making.pipe(
      Effect.mapError((error) =>
        refuse(
          "bad_request",
          `The altar would not understand this: ${error.message.replace(/\s*\n\s*/gu, " ")}. Nothing was charged.`,
          key,
        ),
      ),
      Effect.flatMap((errand) => buyer.buy(name, errand, key, kept)),
      Effect.map((answer) => ({ ...answer, key })),
    )

  const opening = Effect.fnUntraced(function* (id: string, { salt, words }: Opening) {
    if (salt !== undefined && words !== undefined) return { at: client, sealed: { salt, words } }
    const found = Option.getOrUndefined(yield* purchases.findById(id))
    return found?.sealed !== undefined
      ? { at: yield* buyer.clientAt(found.altar), sealed: found.sealed }
      : yield* refuse(
          "words_unknown",
          `This journal does not hold the words of ${id}: name the journal they were sealed with, or give salt and words.`,
        )
  })

  return {
    /** Sets a witness stone: one cent. */
    witness: Effect.fn("Orders.witness")(function* (order: WitnessOrder) {
      const { agentName, kind, spirit } = order
      const key = yield* keyOf(order)
      return yield* sealing(order, key, (commitment, kept) => {
        const payload = { commitment, ...present({ kind, spirit, agentName }) }
        return buy("setWitnessStone", acts.setWitnessStone.errand(client, urls, { payload }), key, kept)
      })
    }),

    /** Lays today's prayer of a spirit: one cent. */
    pray: Effect.fn("Orders.pray")(function* (order: PrayerOrder) {
      const { agentName, day, spirit } = order
      const key = yield* keyOf(order)
      return yield* sealing(order, key, (commitment, kept) => {
        const request = {
          params: { familiarId: spirit },
          query: present({ day }),
          payload: { agentName, intentionCommitment: commitment },
        }
        return buy("offerPrayer", acts.offerPrayer.errand(client, urls, request), key, kept)
      })
    }),

    /** Becomes a spirit's first keeper: one cent. */
    keep: Effect.fn("Orders.keep")(function* (order: KeeperOrder) {
      const { agentName, reason, spirit } = order
      const key = yield* keyOf(order)
      const request = { params: { familiarId: spirit }, payload: present({ agentName, reason }) }
      return yield* buy("takeIn", acts.takeIn.errand(client, urls, request), key)
    }),

    /** Collects the next edition of a material, crab or pixel: one cent. */
    collect: Effect.fn("Orders.collect")(function* (order: CollectOrder) {
      const { agentName, element, reason, spirit } = order
      const key = yield* keyOf(order)
      const request = {
        params: { elementId: element },
        query: present({ spirit }),
        payload: present({ agentName, reason }),
      }
      return yield* buy("collectMaterial", acts.collectMaterial.errand(client, urls, request), key)
    }),

    /** Lights a candle, or with `parentId` adds a light to one: $1 for a day, $3 for a week, $9 for a month. */
    light: Effect.fn("Orders.light")(function* (order: CandleOrder) {
      const { agentName, days, dedication, parentId, spirit } = order
      const key = yield* keyOf(order)
      const rung = rungs[days]
      const lit = (intentionCommitment?: string, kept?: Kept) => {
        const payload = present({ dedication, agentName, parentId, intentionCommitment })
        return buy(rung, acts[rung].errand(client, urls, { params: { familiarId: spirit }, payload }), key, kept)
      }
      const isSealed = order.words !== undefined || order.commitment !== undefined
      return yield* isSealed ? sealing(order, key, lit) : lit()
    }),

    /** Reveals a stone's words, free and once. */
    reveal: Effect.fn("Orders.reveal")(function* (id: string, given: Opening = {}) {
      const { at, sealed } = yield* opening(id, given)
      const payload = { salt: sealed.salt, text: sealed.words, ...present({ agentName: given.agentName }) }
      return yield* free(at.witness.revealWitnessStone({ params: { witnessId: id }, payload }))
    }),

    /** Unseals the words of a candle or light, free and once. */
    unseal: Effect.fn("Orders.unseal")(function* (id: string, given: Opening = {}) {
      const { at, sealed } = yield* opening(id, given)
      return yield* free(at.candles.unsealCandle({ params: { candleId: id }, payload: sealed }))
    }),

    /** How a purchase ended: followed to its end when this journal signed for it, else asked once. */
    reconcile: Effect.fn("Orders.reconcile")(function* (key: string) {
      const found = yield* purchases.find(key)
      if (Option.isSome(found)) return yield* buyer.resume(key)
      const { body } = yield* free(client.payments.reconcile({ params: { idempotencyKey: key } }))
      return body
    }),

    /** Everything the journal knows of. */
    purchases: purchases.all,

    spirits: Effect.map(free(client.guide.listSpirits()), ({ spirits }) => spirits),
    altars: Effect.map(free(client.guide.listAltars()), ({ altars }) => altars),
  }
}

export type Orders = ReturnType<typeof make>
