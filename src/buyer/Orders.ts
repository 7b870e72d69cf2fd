/** A method for each act: seals here, buys under one key, and reveals later from the journal. */
import { Effect, Option, Schedule, Schema } from "effect"
import { oneOf } from "../../schema/Fields.ts"
import { candleDays } from "../../schema/altar/Candle.ts"
import { isSealing } from "../../schema/altar/Recipe.ts"
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import { type Act, acts, type Settled } from "./Acts.ts"
import { type Buyer, free } from "./Buyer.ts"
import { randomHex } from "./core/Digest.ts"
import type * as Order from "./OrderTypes.ts"
import { refuse, type Unsettled } from "./PurchaseError.ts"
import { seal } from "./core/Commitment.ts"
import { type Revealed, verifyReveal } from "./Verify.ts"

/** Omits undefined members, as JSON does. */
const present = <A extends object>(members: A) => {
  const found: { [Name in keyof A]?: A[Name] & ({} | null) } = {}
  for (const name in members) {
    const value = members[name]
    if (value !== undefined) found[name] = value
  }
  return found
}

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
  const { altar, client, purchases } = buyer

  const keyOf = ({ key = `buyer-${randomHex(12)}` }: Order.Keyed) =>
    isKey(key)
      ? Effect.succeed(key)
      : refuse(
          "idempotency_key_invalid",
          "A key is 12 to 128 characters of A-Z a-z 0-9 _ -. This request charged nothing.",
          key,
        )

  /** Repeating a key with the same words reuses its salt. */
  const sealed = Effect.fnUntraced(function* ({ commitment, salt, words }: Partial<Order.Sealing>, key: string) {
    if (words === undefined) return { commitment: commitment ?? "", secret: undefined }
    const before = Option.flatMapNullishOr(yield* purchases.find(key), (purchase) => purchase.sealed)
    const earlier = Option.isSome(before) && before.value.words === words ? before.value.salt : undefined
    const made = yield* Effect.tryPromise({
      try: () => seal(words, salt ?? earlier),
      catch: (error) => refuse("not_sealed", error instanceof Error ? error.message : String(error), key),
    })
    return { commitment: made.commitment, secret: { salt: made.salt, words } }
  })

  /** Of two concurrent runs that seal the same words under a new key, the later retries with the earlier one's salt. */
  const sealing = <A>(
    order: Partial<Order.Sealing>,
    key: string,
    use: (commitment: string, secret: Order.Secret | undefined) => Effect.Effect<A, Unsettled>,
  ) =>
    Effect.flatMap(sealed(order, key), ({ commitment, secret }) => use(commitment, secret)).pipe(
      Effect.retry({ times: 1, while: (error) => error._tag === "Refused" && error.code === "key_in_use" }),
    )

  /** Runs one purchase of any act. */
  const purchase = <Request, Answer extends Settled>(
    act: Act<Request, Answer>,
    request: Request,
    key: string,
    secret?: Order.Secret,
  ) =>
    act.order(altar, request).pipe(
      Effect.mapError((error) => misunderstood(error, key)),
      Effect.flatMap((order) => buyer.buy(order, key, secret)),
      Effect.map((answer) => ({ ...answer, key })),
    )

  /** The same under the key of an order, with its words sealed if it has any. */
  const bought = Effect.fn("Orders.bought")(function* <Request, Answer extends Settled>(
    act: Act<Request, Answer>,
    order: Partial<Order.Sealing> & Order.Keyed,
    request: (commitment?: string) => Request,
  ) {
    const key = yield* keyOf(order)
    if (order.words === undefined && order.commitment === undefined) return yield* purchase(act, request(), key)
    return yield* sealing(order, key, (commitment, secret) => purchase(act, request(commitment), key, secret))
  })

  const opening = Effect.fnUntraced(function* (id: string, { salt, words }: Order.Opening) {
    if (salt !== undefined && words !== undefined) return { at: client, sealed: { salt, words } }
    const found = new Map<string, { readonly altar: string; readonly sealed: Order.Secret }>()
    for (const { altar, sealed } of yield* purchases.withId(id))
      if (sealed !== undefined) found.set(JSON.stringify([altar, sealed.salt, sealed.words]), { altar, sealed })
    const all = [...found.values()]
    if (all.length === 0)
      return yield* refuse(
        "words_unknown",
        `This journal does not hold the words of ${id}: name the journal they were sealed with, or give salt and words.`,
      )
    // A reveal is irrevocable: where the journal has several altars, the owner decides.
    const meant = all.length === 1 ? all : all.filter((one) => one.altar === altar)
    const [only, ...others] = meant
    if (only !== undefined && others.length === 0) return { at: yield* buyer.clientAt(only.altar), sealed: only.sealed }
    return yield* refuse(
      "words_ambiguous",
      only === undefined
        ? `This journal holds the words of ${id} for ${[...new Set(all.map((one) => one.altar))].join(" and for ")}: name the altar you mean with --url, the url of a buyer. Nothing was sent.`
        : `${altar} answered more than one purchase with the id ${id}, and this journal holds other words for each: give salt and words. Nothing was sent.`,
    )
  })

  const altars = Effect.tap(
    Effect.map(free(client.guide.listAltars()), ({ altars }) => altars),
    Effect.forEach(({ candles }) => Effect.forEach(candles, checkUnsealed)),
  )

  return {
    /** Buys any act of the contract by its name, also one without a method here. */
    act: Effect.fn("Orders.act")(function* (name: string, order: Order.ActOrder) {
      const { payload, query, sealing: secret } = order
      const key = yield* keyOf(order)
      const act = buyer.catalog.get(name)
      if (act === undefined)
        return yield* refuse("unknown_act", `Nothing called ${name} is sold. This request charged nothing.`, key)
      const fields = act.fields()
      const request = (sealed: Readonly<Record<string, string>>) =>
        act
          .read({
            ...(fields.params.length === 0 ? {} : { params: order.params ?? {} }),
            ...(fields.query.length === 0 ? {} : { query: query ?? {} }),
            ...(fields.payload.length === 0 ? {} : { payload: { ...payload, ...sealed } }),
          })
          .pipe(Effect.mapError((error) => misunderstood(error, key)))
      if (secret === undefined) return yield* purchase(act, yield* request({}), key)
      const into = fields.payload.find(({ name: member }) => isSealing(member))
      if (into === undefined)
        return yield* refuse("not_sealed", `${name} has no place for sealed words. This request charged nothing.`, key)
      return yield* sealing(secret, key, (commitment, made) =>
        Effect.flatMap(request({ [into.name]: commitment }), (given) => purchase(act, given, key, made)),
      )
    }),

    witness: (order: Order.WitnessOrder) => {
      const { agentName, kind, spirit } = order
      return bought(acts.setWitnessStone, order, (commitment = "") => ({
        payload: { commitment, ...present({ kind, spirit, agentName }) },
      }))
    },

    pray: (order: Order.PrayerOrder) =>
      bought(acts.offerPrayer, order, (intentionCommitment = "") => ({
        params: { familiarId: order.spirit },
        query: present({ day: order.day }),
        payload: { agentName: order.agentName, intentionCommitment },
      })),

    takeIn: ({ agentName, key, reason, spirit }: Order.KeeperOrder) =>
      bought(acts.takeIn, present({ key }), () => ({
        params: { familiarId: spirit },
        payload: present({ agentName, reason }),
      })),

    collect: ({ agentName, element, key, reason, spirit }: Order.CollectOrder) =>
      bought(acts.collectMaterial, present({ key }), () => ({
        params: { elementId: element },
        query: present({ spirit }),
        payload: present({ agentName, reason }),
      })),

    light: Effect.fn("Orders.light")(function* (order: Order.CandleOrder) {
      const { agentName, days, dedication, parentId, spirit } = order
      const act = acts.candles.find(({ price }) => price.days === days)
      if (act === undefined)
        return yield* refuse(
          "bad_request",
          `A candle burns for ${oneOf(candleDays)} days, not for ${String(days)}. This request charged nothing.`,
          yield* keyOf(order),
        )
      return yield* bought(act, order, (intentionCommitment) => ({
        params: { familiarId: spirit },
        payload: present({ dedication, agentName, parentId, intentionCommitment }),
      }))
    }),

    /** Reveals a stone's words, free and once: words and salt become public. */
    reveal: Effect.fn("Orders.reveal")(function* (id: string, given: Order.Opening = {}) {
      const { at, sealed } = yield* opening(id, given)
      const payload = { salt: sealed.salt, text: sealed.words, ...present({ agentName: given.agentName }) }
      const answer = yield* free(at.witness.revealWitnessStone({ params: { witnessId: id }, payload }))
      yield* checkRevealAnswer(sealed, { id, commitment: answer.stone.commitment, revealed: answer.stone.reveal })
      return answer
    }),

    /** The `.tlog-proof` file of a stone; waits up to 30 seconds for a checkpoint that covers it. */
    proof: Effect.fn("Orders.proof")(function* (id: string) {
      return yield* free(client.log.readStoneProof({ params: { witnessId: id } })).pipe(
        Effect.retry({
          while: ({ code }) => code === "proof_not_ready",
          schedule: Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: "30 seconds" })),
        }),
      )
    }),

    /** The log's key by the server's own statement. */
    logKey: Effect.map(free(client.log.readLog()), ({ body }) => body.vkey),

    /** Unseals the words of a candle or light, free and once: words and salt become public. */
    unseal: Effect.fn("Orders.unseal")(function* (id: string, given: Order.Opening = {}) {
      const { at, sealed } = yield* opening(id, given)
      const answer = yield* free(at.candles.unsealCandle({ params: { candleId: id }, payload: sealed }))
      const { intentionCommitment: commitment, unsealed: revealed } = answer.candle
      yield* checkRevealAnswer(sealed, { id, commitment, revealed })
      return answer
    }),

    /** The outcome of a purchase: followed to its end if this journal signed for it, otherwise asked for once. */
    reconcile: Effect.fn("Orders.reconcile")(function* (key: string) {
      const found = yield* purchases.find(key)
      if (Option.isSome(found)) return yield* buyer.resume(key)
      const { body } = yield* free(client.payments.reconcile({ params: { idempotencyKey: key } }))
      return body
    }),

    purchases: purchases.all,

    spirits: Effect.map(free(client.guide.listSpirits()), ({ spirits }) => spirits),
    altars,
    altar: (spirit: SpiritId) => Effect.map(altars, (all) => all.find((one) => one.spirit === spirit)),
  }
}

export type Orders = ReturnType<typeof make>
