/** A method for each act: seals here, buys under one key, and reveals later from the journal. */
import { Schema } from "effect"
import { oneOf } from "../../schema/Fields.ts"
import { candleActs, candleDays, unsealCandle } from "../../schema/altar/Candle.ts"
import { commitmentText } from "../../schema/altar/Recipe.ts"
import { reconcile } from "../../schema/altar/Sales.ts"
import { readActReceipt } from "../../schema/altar/ReceiptFile.ts"
import { readAct } from "../../schema/altar/ActApi.ts"
import { readWitnessChain, readWitnessStone, revealWitnessStone } from "../../schema/altar/Witness.ts"
import { segmentMaximum } from "../../schema/Common.ts"
import { readStoneProof } from "../../schema/log/LogApi.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import type { Acts } from "./Records.ts"
import { type Act, anyAnswer, catalog, type RequestParts, type Settled } from "./Acts.ts"
import { buyerOf } from "./Buyer.ts"
import { ask } from "./Client.ts"
import { randomHex } from "./core/Digest.ts"
import { type Purchase, secondsReserved, stateOf } from "./core/Purchase.ts"
import type { Kept } from "./Options.ts"
import type * as Library from "./Library.ts"
import { messageOf, Open, refuse } from "./PurchaseError.ts"
import { unlisted } from "./Purchases.ts"
import { checkReveal, seal, unsealable } from "./core/Commitment.ts"
import { unlistedAct } from "./UnlistedAct.ts"

/** The answer of an act by its name. */
type AnswerOf<Name extends string> = Settled & (Name extends keyof Acts ? Acts[Name]["answer"] : unknown)

/** Revealed words as an altar shows them: `text` of a stone, `words` of a candle; null while they are hidden. */
type Shown = { readonly salt?: string | null; readonly text?: string | null; readonly words?: string | null }

const isKey = Schema.is(IdempotencyKey)

const openers = new Set(["salt", "words", "agentName"])
const mayOpen = (name: string, value: unknown) =>
  value === undefined || (openers.has(name) && typeof value === "string")

/** The types of an act follow from its name. */
const isOf = <Name extends string>(act: Act, name: Name): act is Act<AnswerOf<Name>> => act.price.name === name

const listed = (purchase: Purchase): Library.Purchase => {
  const { act, altar, begunAt, key, misrecorded, payment, sealed, settled } = purchase
  return {
    key,
    act,
    altar,
    begunAt,
    state: stateOf(purchase),
    amountAtomic: payment?.amountAtomic ?? null,
    id: settled?.id ?? null,
    permalink: settled?.permalink ?? null,
    isSealed: sealed !== undefined,
    misrecorded: misrecorded ?? null,
  }
}

/** The methods of a buyer, for one call that ends with the signal. */
export const ordersOf = (options: Kept, signal: AbortSignal) => {
  const { altar, at, follow, purchases } = buyerOf(options, signal)

  /** Buys an act under the key of its order, with its words sealed if it has any. */
  const buyParts = async <Answer extends Settled>(
    act: Act<Answer>,
    parts: RequestParts,
    { commitment, key = `buyer-${randomHex(12)}`, salt, words }: Library.AnyOrder,
  ) => {
    const no = (code: string, why: string) => refuse(code, `${why} This request charged nothing.`, key)
    if (!isKey(key)) throw no("idempotency_key_invalid", "A key is 12 to 128 characters of A-Z a-z 0-9 _ -.")
    const into = words === undefined && commitment === undefined ? undefined : act.sealed
    if ((words ?? commitment) !== undefined && into === undefined)
      throw no("not_sealed", `${act.price.name} has no place for sealed words.`)
    if (words === undefined ? salt !== undefined : commitment !== undefined)
      throw no("not_sealed", "Give words, with or without a salt, or a commitment that was sealed elsewhere.")
    const purchase = await purchases.begin(key, async (existing) => {
      // Repeating a key with the same words reuses its salt.
      const earlier = existing?.sealed?.words === words ? existing?.sealed?.salt : undefined
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

  const buy = async <Name extends string>(name: Name, order: Library.OrderOf<Name> & Library.AnyOrder) => {
    const act = catalog.get(name) ?? (await unlistedAct(at(altar), name))
    if (!isOf(act, name)) throw refuse("unknown_act", `Nothing called ${name} is sold. This request charged nothing.`)
    return buyParts(act, act.partsOf(Object.fromEntries(Object.entries(order))), order)
  }

  const opening = async (id: string, given: Library.Opening) => {
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
    const matching = held.filter(
      ({ sealed }) =>
        commitmentText(salt ?? sealed.salt, words ?? sealed.words) === commitmentText(sealed.salt, sealed.words),
    )
    const [first] = matching
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
    const shops = new Set(matching.map(({ shop }) => shop))
    const shop = shops.size === 1 ? first.shop : altar
    const secrets = new Map(
      matching.filter((entry) => entry.shop === shop).map(({ sealed }) => [JSON.stringify(sealed), sealed]),
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
    shown: Shown | null,
  ) => {
    const both: ReadonlyArray<Shown | null> = [sealed, shown]
    for (const revealed of both) {
      const text = revealed?.text ?? revealed?.words ?? null
      const fault = await checkReveal(commitment, { text, salt: revealed?.salt ?? null })
      if (fault !== undefined)
        throw refuse(
          "reveal_broken",
          `The altar shows other words under ${id} than were sealed: ${fault.detail}. Do not rely on them.`,
        )
    }
    const isSame = ({ sealed: its, settled }: Purchase) =>
      settled?.id === id && its?.salt === sealed.salt && its.words === sealed.words
    // The words are public: a failing journal must not make them look sealed.
    if ((shown?.text ?? shown?.words ?? null) !== null) await purchases.release("revealed", isSame).catch(() => {})
  }

  /** The outcome of a purchase: followed to its end if this journal signed for it, otherwise asked for once. */
  const outcomeOf = async (key: string) => {
    const purchase = await purchases.find(key)
    if (purchase === undefined) return ask(reconcile, at(altar), { id: key })
    const seconds = purchase.payment === undefined ? secondsReserved(purchase) : 0
    if (seconds > 0)
      throw new Open({
        key,
        message: `A signature is being made under the key ${key}, so its outcome is not known. Ask again in ${Math.ceil(seconds)} s at the latest.`,
      })
    if (purchase.payment === undefined)
      throw refuse("not_signed", `Nothing was signed under the key ${key}, so nothing was charged.`, key)
    at(purchase.altar)
    const act = catalog.get(purchase.act)
    return follow({ answer: act?.answer ?? anyAnswer, recorded: act?.recorded }, purchase)
  }

  return {
    buy,
    witness: (order: Library.OrderOf<"setWitnessStone">) => buy("setWitnessStone", order),
    pray: (order: Library.OrderOf<"offerPrayer">) => buy("offerPrayer", order),
    keep: (order: Library.OrderOf<"takeIn">) => buy("takeIn", order),
    collect: (order: Library.OrderOf<"collectMaterial">) => buy("collectMaterial", order),

    light: async ({ days, ...order }: Library.CandleOrder) => {
      const act = Object.values(candleActs).find(({ sale }) => sale.days === days)
      if (act !== undefined) return buy(act.identifier, order)
      throw refuse(
        "bad_request",
        `A candle burns for ${oneOf(candleDays)} days, not for ${String(days)}. This request charged nothing.`,
        order.key,
      )
    },

    reveal: async (id: string, given: Library.Opening = {}) => {
      const { sealed, shop } = await opening(id, given)
      const { agentName } = given
      const answer = await ask(revealWitnessStone, shop, {
        id,
        body: { salt: sealed.salt, text: sealed.words, agentName },
      })
      await checkRevealed(id, sealed, answer.stone.commitment, answer.stone.reveal)
      return answer
    },

    unseal: async (id: string, given: Library.Opening = {}) => {
      const { sealed, shop } = await opening(id, given)
      const answer = await ask(unsealCandle, shop, { id, body: sealed })
      await checkRevealed(id, sealed, answer.candle.intentionCommitment, answer.candle.unsealed)
      return answer
    },

    /** Completes a purchase like `reconcile`; one without an outcome is an error. */
    resume: async (key: string) => {
      const answer = await outcomeOf(key)
      if ("reconcile" in answer) throw new Open({ key, message: `${answer.message}` })
      return { ...answer, key }
    },

    reconcile: outcomeOf,

    exportWords: async (key: string) => {
      const purchase = await purchases.find(key)
      if (purchase === undefined) throw unlisted(key)
      if (purchase.sealed === undefined)
        throw refuse("words_unknown", `No words were sealed under the key ${key}. Nothing was sent.`, key)
      const exported = await seal(purchase.sealed.words, purchase.sealed.salt)
      await purchases.release("exported", (purchase) => purchase.key === key)
      return exported
    },

    forget: purchases.forget,

    /** The purchases of the journal, without words and salts. */
    purchases: async () => (await purchases.all()).map(listed),

    stone: async (id: string) => (await ask(readWitnessStone, at(altar), { id })).stone,
    act: async (id: string) => (await ask(readAct, at(altar), { id })).act,
    receipt: (id: string) => ask(readActReceipt, at(altar), { id }),
    segment: (from = 1) => ask(readWitnessChain, at(altar), { query: { from, limit: segmentMaximum } }),
    proof: (id: string) => ask(readStoneProof, at(altar), { id }),
  }
}

export type Orders = ReturnType<typeof ordersOf>
