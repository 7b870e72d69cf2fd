/** A method for each act: seals here, buys under one key, and reveals later from the journal. */
import { Schema } from "effect"
import { oneOf } from "../../schema/Fields.ts"
import { candleActs, candleDays, unsealCandle } from "../../schema/altar/Candle.ts"
import { commitmentText } from "../../schema/altar/Recipe.ts"
import { reconcile } from "../../schema/altar/Sales.ts"
import { revealWitnessStone } from "../../schema/altar/Witness.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import { type Act, anyAnswer, catalog, type RequestParts, type Settled } from "./Acts.ts"
import { buyerOf } from "./Buyer.ts"
import { ask } from "./Client.ts"
import { randomHex } from "./core/Digest.ts"
import type { Kept } from "./Options.ts"
import type * as Order from "./OrderTypes.ts"
import { messageOf, refuse } from "./PurchaseError.ts"
import { type Purchase, unlisted } from "./Purchases.ts"
import { seal, unsealable } from "./core/Commitment.ts"
import { unlistedAct } from "./UnlistedAct.ts"
import { type Revealed, verifyReveal } from "./Verify.ts"

const isKey = Schema.is(IdempotencyKey)

const openers = new Set(["salt", "words", "agentName"])
const mayOpen = (name: string, value: unknown) =>
  value === undefined || (openers.has(name) && typeof value === "string")

/** The types of an act follow from its name. */
const isOf = <Name extends string>(act: Act, name: Name): act is Act<Order.AnswerOf<Name>> => act.price.name === name

/** The methods of a buyer, for one call that ends with the signal. */
export const ordersOf = (options: Kept, signal: AbortSignal) => {
  const { altar, at, follow, purchases } = buyerOf(options, signal)

  /** Buys an act under the key of its order, with its words sealed if it has any. */
  const buyParts = async <Answer extends Settled>(
    act: Act<Answer>,
    parts: RequestParts,
    { commitment, key = `buyer-${randomHex(12)}`, salt, words }: Order.Common,
  ) => {
    const no = (code: string, why: string) => refuse(code, `${why} This request charged nothing.`, key)
    if (!isKey(key)) throw no("idempotency_key_invalid", "A key is 12 to 128 characters of A-Z a-z 0-9 _ -.")
    const into = words === undefined && commitment === undefined ? undefined : act.sealed
    if ((words ?? commitment) !== undefined && into === undefined)
      throw no("not_sealed", `${act.price.name} has no place for sealed words.`)
    if (words === undefined ? salt !== undefined : commitment !== undefined)
      throw no("not_sealed", "Give words, with or without a salt, or a commitment that was sealed elsewhere.")
    const purchase = await purchases.begin(key, async (found) => {
      // Repeating a key with the same words reuses its salt.
      const earlier = found?.sealed?.words === words ? found?.sealed?.salt : undefined
      const sealed =
        words === undefined
          ? undefined
          : await seal(words, salt ?? earlier).catch((error: unknown) => {
              throw refuse("not_sealed", messageOf(error), key)
            })
      const payload =
        into === undefined ? {} : { payload: { ...parts.payload, [into]: sealed?.commitment ?? commitment } }
      try {
        const requested = act.request(altar, { ...parts, ...payload })
        const secret = sealed === undefined ? {} : { sealed: { salt: sealed.salt, words: sealed.words } }
        return { act: act.price.name, altar, ...requested, ...secret }
      } catch (error) {
        const why = messageOf(error).replace(/\s*\n\s*/gu, " ")
        throw no("bad_request", `The altar would not understand this: ${why}.`)
      }
    })
    return { ...(await follow(act, purchase)), key }
  }

  const buy = async <Name extends string>(name: Name, order: Order.OrderOf<Name> & Order.Common) => {
    const act = catalog.get(name) ?? (await unlistedAct(at(altar), name))
    if (!isOf(act, name)) throw refuse("unknown_act", `Nothing called ${name} is sold. This request charged nothing.`)
    return buyParts(act, act.partsOf(Object.fromEntries(Object.entries(order))), order)
  }

  const opening = async (id: string, given: Order.Opening) => {
    const wrong = Object.entries(given).find(([name, value]) => !mayOpen(name, value))
    // Words under another name would be left out, and those of the journal published.
    if (wrong !== undefined)
      throw refuse(
        "bad_request",
        `A reveal takes salt, words and agentName, each a text, not this ${wrong[0]}. Nothing was sent.`,
      )
    const { salt, words } = given
    if (salt !== undefined && words !== undefined) {
      const problem = unsealable(salt, words)
      if (problem !== undefined) throw refuse("bad_request", `${problem} Nothing was sent.`)
      return { shop: at(altar), sealed: { salt, words } }
    }
    const held = (await purchases.all()).flatMap(({ altar: shop, sealed, settled }) =>
      sealed !== undefined && settled?.id === id ? [{ shop, sealed }] : [],
    )
    // Words or a salt alone must be those of the journal: the caller means to publish no others.
    const known = held.filter(
      ({ sealed }) =>
        commitmentText(salt ?? sealed.salt, words ?? sealed.words) === commitmentText(sealed.salt, sealed.words),
    )
    const [first] = known
    if (first === undefined)
      throw held.length > 0
        ? refuse(
            "words_differ",
            `${words === undefined ? "This salt is not the one" : "These words are not those"} that this journal sealed for ${id}: give both salt and words, or neither. Nothing was sent.`,
          )
        : refuse(
            "words_unknown",
            `This journal does not hold the words of ${id}: name the journal they were sealed with, or give salt and words. Nothing was sent.`,
          )
    // Ids come from the altars, so several may use the same one. A reveal is irrevocable, so the owner decides.
    const shops = new Set(known.map(({ shop }) => shop))
    const shop = shops.size === 1 ? first.shop : altar
    const secrets = new Map(
      known.filter((one) => one.shop === shop).map(({ sealed }) => [JSON.stringify(sealed), sealed]),
    )
    const [secret, ...others] = secrets.values()
    if (secret !== undefined && others.length === 0) return { shop: at(shop), sealed: secret }
    throw refuse(
      "words_ambiguous",
      secret === undefined
        ? `This journal holds the words of ${id} for ${[...shops].join(" and for ")}: name the altar you mean with --url, the url of a buyer. Nothing was sent.`
        : `${shop} answered more than one purchase with the id ${id}, and this journal holds other words for each: give salt and words. Nothing was sent.`,
    )
  }

  /** Checks that the answer to a reveal is about the commitment of these words, and shows no others. */
  const checkRevealed = async (
    id: string,
    sealed: NonNullable<Purchase["sealed"]>,
    commitment: string | null,
    shown: Revealed | null,
  ) => {
    for (const revealed of [sealed, shown]) {
      const verdict = await verifyReveal(commitment, revealed)
      if (!verdict.ok)
        throw refuse(
          "reveal_broken",
          `The altar shows other words under ${id} than were sealed: ${verdict.reason}. Do not rely on them.`,
        )
    }
    const isSame = ({ sealed: its, settled }: Purchase) =>
      settled?.id === id && its?.salt === sealed.salt && its.words === sealed.words
    // The words are public: a failing journal must not make them look sealed.
    if ((shown?.text ?? shown?.words ?? null) !== null) await purchases.release("revealed", isSame).catch(() => {})
  }

  return {
    buy,
    witness: (order: Order.WitnessOrder) => buy("setWitnessStone", order),
    pray: (order: Order.PrayerOrder) => buy("offerPrayer", order),
    takeIn: (order: Order.KeeperOrder) => buy("takeIn", order),
    collect: (order: Order.CollectOrder) => buy("collectMaterial", order),

    light: async ({ days, ...order }: Order.CandleOrder) => {
      const act = Object.values(candleActs).find(({ sale }) => sale.days === days)
      if (act !== undefined) return buy(act.identifier, order)
      throw refuse(
        "bad_request",
        `A candle burns for ${oneOf(candleDays)} days, not for ${String(days)}. This request charged nothing.`,
        order.key,
      )
    },

    reveal: async (id: string, given: Order.Opening = {}) => {
      const { sealed, shop } = await opening(id, given)
      const { agentName } = given
      const answer = await ask(revealWitnessStone, shop, id, { salt: sealed.salt, text: sealed.words, agentName })
      await checkRevealed(id, sealed, answer.stone.commitment, answer.stone.reveal)
      return answer
    },

    unseal: async (id: string, given: Order.Opening = {}) => {
      const { sealed, shop } = await opening(id, given)
      const answer = await ask(unsealCandle, shop, id, sealed)
      await checkRevealed(id, sealed, answer.candle.intentionCommitment, answer.candle.unsealed)
      return answer
    },

    /** The outcome of a purchase: followed to its end if this journal signed for it, otherwise asked for once. */
    reconcile: async (key: string) => {
      const found = await purchases.find(key)
      if (found === undefined) return ask(reconcile, at(altar), key)
      if (found.payment === undefined)
        throw refuse("not_signed", `Nothing was signed under the key ${key}, so nothing was charged.`, key)
      at(found.altar)
      const act = catalog.get(found.act)
      return follow({ answer: act?.answer ?? anyAnswer, recorded: act?.recorded }, found)
    },

    exportWords: async (key: string) => {
      const found = await purchases.find(key)
      if (found === undefined) throw unlisted(key)
      if (found.sealed === undefined)
        throw refuse("words_unknown", `No words were sealed under the key ${key}. Nothing was sent.`, key)
      const exported = await seal(found.sealed.words, found.sealed.salt)
      await purchases.release("exported", (purchase) => purchase.key === key)
      return exported
    },

    forget: purchases.forget,

    purchases: purchases.all,
  }
}

export type Orders = ReturnType<typeof ordersOf>
