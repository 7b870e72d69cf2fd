/** A method for each act: seals here, buys under one key, and reveals later from the journal. */
import { Effect, Option, Schema } from "effect"
import { oneOf } from "../../schema/Fields.ts"
import { candleDays, unsealCandle } from "../../schema/altar/Candle.ts"
import { reconcile } from "../../schema/altar/Sales.ts"
import { listAltars, listSpirits } from "../../schema/altar/Guide.ts"
import { revealWitnessStone } from "../../schema/altar/Witness.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import { type Act, acts, type RequestParts, type Settled } from "./Acts.ts"
import { type Buyer, make as makeBuyer } from "./Buyer.ts"
import { ask } from "./Client.ts"
import { randomHex } from "./core/Digest.ts"
import type { Call, Options } from "./Options.ts"
import type * as Order from "./OrderTypes.ts"
import { refuse } from "./PurchaseError.ts"
import { seal, unsealable } from "./core/Commitment.ts"
import { type Revealed, verifyReveal } from "./Verify.ts"

const keyed = (key: string | undefined) => (key === undefined ? {} : { key })

const isKey = Schema.is(IdempotencyKey)

const misunderstood = (error: Schema.SchemaError, key: string) =>
  refuse(
    "bad_request",
    `The altar would not understand this: ${error.message.replace(/\s*\n\s*/gu, " ")}. This request charged nothing.`,
    key,
  )

interface RevealAnswer {
  readonly id: string
  readonly commitment: string | null
  readonly revealed: Revealed | null
}

const checkRevealed = Effect.fnUntraced(function* ({ commitment, id, revealed }: RevealAnswer) {
  const verdict = yield* Effect.promise(() => verifyReveal(commitment, revealed))
  if (!verdict.ok)
    return yield* refuse(
      "reveal_broken",
      `The altar shows other words under ${id} than were sealed: ${verdict.reason}. Do not rely on them.`,
    )
})

/** Checks the unsealed words of a candle, if it shows any. */
const checkUnsealed = (candle: {
  readonly id: string
  readonly intentionCommitment: string | null
  readonly unsealed: Revealed | null
}) => checkRevealed({ id: candle.id, commitment: candle.intentionCommitment, revealed: candle.unsealed })

/** Checks that the answer to a reveal is about the commitment of these words, and shows no others. */
const checkRevealAnswer = ({ salt, words }: { readonly salt: string; readonly words: string }, answer: RevealAnswer) =>
  Effect.andThen(checkRevealed({ ...answer, revealed: { salt, words } }), checkRevealed(answer))

export const make = (buyer: Buyer) => {
  const { altar, at, purchases } = buyer

  /** Repeating a key with the same words reuses its salt. */
  const sealed = Effect.fnUntraced(function* (words: string, salt: string | undefined, key: string) {
    const before = Option.flatMapNullishOr(yield* purchases.find(key), (purchase) => purchase.sealed)
    const earlier = Option.isSome(before) && before.value.words === words ? before.value.salt : undefined
    return yield* Effect.tryPromise({
      try: () => seal(words, salt ?? earlier),
      catch: (error) => refuse("not_sealed", error instanceof Error ? error.message : String(error), key),
    })
  })

  /** Buys an act under the key of its order, with its words sealed if it has any. */
  const buy = Effect.fn("Orders.buy")(function* <Answer extends Settled>(
    act: Act<Answer>,
    parts: RequestParts,
    { commitment, key = `buyer-${randomHex(12)}`, salt, words }: Partial<Order.Sealing> & Order.Keyed,
  ) {
    if (!isKey(key))
      return yield* refuse(
        "idempotency_key_invalid",
        "A key is 12 to 128 characters of A-Z a-z 0-9 _ -. This request charged nothing.",
        key,
      )
    const into = words === undefined && commitment === undefined ? undefined : act.sealing()
    if (words !== undefined && into === undefined)
      return yield* refuse(
        "not_sealed",
        `${act.price.name} has no place for sealed words. This request charged nothing.`,
        key,
      )
    const purchase = (hash: string | undefined, secret?: Order.Secret) =>
      act.order(altar, into === undefined ? parts : { ...parts, payload: { ...parts.payload, [into]: hash } }).pipe(
        Effect.mapError((error) => misunderstood(error, key)),
        Effect.flatMap((order) => buyer.buy(order, key, secret)),
        Effect.map((answer) => ({ ...answer, key })),
      )
    if (words === undefined) return yield* purchase(commitment)
    return yield* Effect.flatMap(sealed(words, salt, key), (made) =>
      purchase(made.commitment, { salt: made.salt, words }),
    ).pipe(
      // Of two concurrent runs that seal the same words under a new key, the later retries with the earlier one's salt.
      Effect.retry({ times: 1, while: (error) => error._tag === "Refused" && error.code === "key_in_use" }),
    )
  })

  const opening = Effect.fnUntraced(function* (id: string, { salt, words }: Order.Opening) {
    if (salt !== undefined && words !== undefined) {
      const problem = unsealable(salt, words)
      if (problem !== undefined) return yield* refuse("bad_request", `${problem} Nothing was sent.`)
      return { shop: yield* at(altar), sealed: { salt, words } }
    }
    const found = new Map<string, { readonly altar: string; readonly sealed: Order.Secret }>()
    // Ids come from the altars, so several altars may use the same one.
    for (const { altar, sealed, settled } of yield* purchases.all)
      if (settled?.id === id && sealed !== undefined)
        found.set(JSON.stringify([altar, sealed.salt, sealed.words]), { altar, sealed })
    const all = [...found.values()]
    if (all.length === 0)
      return yield* refuse(
        "words_unknown",
        `This journal does not hold the words of ${id}: name the journal they were sealed with, or give salt and words.`,
      )
    // A reveal is irrevocable: where the journal has several altars, the owner decides.
    const meant = all.length === 1 ? all : all.filter((one) => one.altar === altar)
    const [only, ...others] = meant
    if (only !== undefined && others.length === 0) return { shop: yield* at(only.altar), sealed: only.sealed }
    return yield* refuse(
      "words_ambiguous",
      only === undefined
        ? `This journal holds the words of ${id} for ${[...new Set(all.map((one) => one.altar))].join(" and for ")}: name the altar you mean with --url, the url of a buyer. Nothing was sent.`
        : `${altar} answered more than one purchase with the id ${id}, and this journal holds other words for each: give salt and words. Nothing was sent.`,
    )
  })

  const shop = at(altar)
  const altars = Effect.tap(
    Effect.flatMap(shop, (here) => Effect.map(ask(listAltars, here), ({ altars }) => altars)),
    Effect.forEach(({ candles }) => Effect.forEach(candles, checkUnsealed)),
  )

  return {
    /** Buys any act of the contract by its name, also one without a method here. */
    act: (name: string, { key, sealing, ...parts }: Order.ActOrder) => {
      const act = buyer.catalog.get(name)
      if (act === undefined)
        return refuse("unknown_act", `Nothing called ${name} is sold. This request charged nothing.`, key)
      return sealing !== undefined && sealing.words === undefined
        ? refuse("not_sealed", "There are no words to seal. This request charged nothing.", key)
        : buy(act, parts, { ...keyed(key), ...sealing })
    },

    witness: ({ agentName, kind, spirit, ...sealing }: Order.WitnessOrder) =>
      buy(acts.setWitnessStone, { payload: { kind, spirit, agentName } }, sealing),

    pray: ({ agentName, day, spirit, ...sealing }: Order.PrayerOrder) =>
      buy(acts.offerPrayer, { params: { familiarId: spirit }, query: { day }, payload: { agentName } }, sealing),

    takeIn: ({ agentName, key, reason, spirit }: Order.KeeperOrder) =>
      buy(acts.takeIn, { params: { familiarId: spirit }, payload: { agentName, reason } }, keyed(key)),

    collect: ({ agentName, element, key, reason, spirit }: Order.CollectOrder) =>
      buy(
        acts.collectMaterial,
        { params: { elementId: element }, query: { spirit }, payload: { agentName, reason } },
        keyed(key),
      ),

    light: ({ agentName, days, dedication, parentId, spirit, ...sealing }: Order.CandleOrder) => {
      const act = acts.candles.find(({ price }) => price.days === days)
      return act === undefined
        ? refuse(
            "bad_request",
            `A candle burns for ${oneOf(candleDays)} days, not for ${String(days)}. This request charged nothing.`,
            sealing.key,
          )
        : buy(act, { params: { familiarId: spirit }, payload: { dedication, agentName, parentId } }, sealing)
    },

    /** Reveals a stone's words, free and once: words and salt become public. */
    reveal: Effect.fn("Orders.reveal")(function* (id: string, given: Order.Opening = {}) {
      const { shop, sealed } = yield* opening(id, given)
      const { agentName } = given
      const payload = { salt: sealed.salt, text: sealed.words, ...(agentName === undefined ? {} : { agentName }) }
      const answer = yield* ask(revealWitnessStone, shop, id, payload)
      yield* checkRevealAnswer(sealed, { id, commitment: answer.stone.commitment, revealed: answer.stone.reveal })
      return answer
    }),

    /** Unseals the words of a candle or light, free and once: words and salt become public. */
    unseal: Effect.fn("Orders.unseal")(function* (id: string, given: Order.Opening = {}) {
      const { shop, sealed } = yield* opening(id, given)
      const answer = yield* ask(unsealCandle, shop, id, sealed)
      const { intentionCommitment: commitment, unsealed: revealed } = answer.candle
      yield* checkRevealAnswer(sealed, { id, commitment, revealed })
      return answer
    }),

    /** The outcome of a purchase: followed to its end if this journal signed for it, otherwise asked for once. */
    reconcile: Effect.fn("Orders.reconcile")(function* (key: string) {
      const found = yield* purchases.find(key)
      if (Option.isSome(found)) return yield* buyer.resume(key)
      return yield* ask(reconcile, yield* shop, key)
    }),

    purchases: purchases.all,

    spirits: Effect.flatMap(shop, (here) => Effect.map(ask(listSpirits, here), ({ spirits }) => spirits)),
    altars,
  }
}

export type Orders = ReturnType<typeof make>

/** Runs effects on a buyer that the first call creates, as promises. */
export const runnerOf = (options: Options) => {
  const orders = Effect.runSync(Effect.cached(Effect.map(makeBuyer(options), make)))
  return <A, E>(use: (orders: Orders) => Effect.Effect<A, E>, call: Call): Promise<A> =>
    Effect.runPromise(Effect.flatMap(orders, use), call)
}
