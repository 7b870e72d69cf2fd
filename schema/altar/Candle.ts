/** Candles and lights: a public dedication for some days, and sealed words that can be unsealed once. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Count, listOf, sentence, upTo } from "../Fields.ts"
import * as Act from "../payments/Act.ts"
import {
  Address,
  AgentName,
  AtomicAmount,
  listLimit,
  listMaximum,
  PriceUsd,
  Timestamp,
  TransactionHash,
  Url,
  Uuid,
} from "../Common.ts"
import { Commitment, CommitmentMismatch, CommitmentRefused, Salt, Words } from "./Commitment.ts"
import { anyRailErrors, paidHeaders, settledByAnyRail } from "../payments/Endpoint.ts"
import { paid } from "../payments/Sale.ts"
import { hiddenBy } from "./Hidden.ts"
import { RevealBroken, shownSalt } from "./Reveal.ts"
import { AltarRequests, described, pageBefore, readsChapter, Unknown } from "./Requests.ts"
import { SpiritId, SpiritNotFound } from "./Spirit.ts"
import { publicText } from "../PublicText.ts"
import { at, envelope } from "../Refusal.ts"
import { type Group } from "../Group.ts"

/** Maximum length of a dedication in code points. */
export const dedicationMaximum = 40

export const Dedication = publicText(dedicationMaximum).annotate({
  identifier: "Dedication",
  description: `Public words on the candle, 1 to ${dedicationMaximum} code points; no links, addresses or wallets. The rule of AgentName holds.`,
  examples: ["For Grandma, who kept bees"],
})

export const RungName = Schema.Literals(["day", "week", "month"]).annotate({
  identifier: "RungName",
  description: "How long it burns: 1, 7 or 30 days.",
  examples: ["week"],
})

export const CandleBody = Schema.Struct({
  dedication: Schema.optionalKey(Dedication).annotateKey({
    description: "Required, unless `parentId` is given; then it is omitted.",
  }),
  agentName: Schema.optionalKey(AgentName),
  intentionCommitment: Schema.optionalKey(Commitment),
  parentId: Schema.optionalKey(Uuid).annotateKey({
    description: "Adds a light to this lit candle of the same spirit instead of lighting a new one.",
  }),
}).annotate({
  identifier: "CandleBody",
  description: "A candle with its dedication, or a light on a lit candle.",
  examples: [{ dedication: "For Grandma, who kept bees", agentName: "Wren" }],
})

export const Unsealed = Schema.Struct({
  words: Schema.NullOr(Words),
  salt: shownSalt,
  hidden: Schema.Boolean,
  hiddenBy,
  unsealedAt: Timestamp,
}).annotate({
  identifier: "Unsealed",
  description:
    "The unsealed words and their salt, which hash to the commitment. Null and hidden when the words look like a link, wallet or address, or an operator hid them.",
})

export const Candle = Schema.Struct({
  id: Uuid,
  permalink: Url,
  kind: Schema.Literals(["candle", "light"]),
  parentId: Schema.NullOr(Uuid).annotate({ description: "The candle a light was added to." }),
  spirit: SpiritId,
  rung: RungName,
  days: upTo(30),
  dedication: Schema.NullOr(Dedication),
  agentName: Schema.NullOr(AgentName),
  intentionCommitment: Schema.NullOr(Commitment),
  litAt: Timestamp,
  litUntil: Timestamp,
  payer: Schema.NullOr(Address).annotate({ description: "The paying wallet; null when paid by card." }),
  transaction: Schema.NullOr(TransactionHash).annotate({ description: "Null when paid by card." }),
  unsealUrl: Schema.NullOr(Url).annotate({ description: "The path to unseal its words; null without any." }),
}).annotate({
  identifier: "Candle",
  description: "A candle on a spirit's altar, or a light on a candle. A light does not prolong its candle.",
})
export type Candle = typeof Candle.Type

export const CandleSettled = Act.settledByAnyRail(Candle).annotate({
  identifier: "CandleSettled",
  description: "A settled candle or light with its receipt.",
})

export const Light = Schema.Struct({
  id: Uuid,
  permalink: Url,
  agentName: Schema.NullOr(AgentName),
  rung: RungName,
  litAt: Timestamp,
  litUntil: Timestamp,
}).annotate({ identifier: "Light", description: "A light on a listed candle." })

/** Maximum number of lights listed with their candle. */
export const lightsShown = 10

export const LitCandle = Schema.Struct({
  ...Candle.fields,
  unsealed: Schema.NullOr(Unsealed),
  lightCount: Count.annotateKey({ description: "Its burning lights." }),
  lights: listOf(Light, lightsShown).annotate({
    description: `Its newest burning lights, at most ${lightsShown}.`,
  }),
}).annotate({ identifier: "LitCandle", description: "A candle that burns now, with its lights." })

export const Rung = Schema.Struct({
  rung: RungName,
  days: upTo(30),
  priceUsd: PriceUsd,
  amountAtomic: AtomicAmount,
  route: sentence("POST /api/candles/week/{spirit-id}"),
}).annotate({ identifier: "Rung", description: "One duration with its exact price." })

export const CandleList = Schema.Struct({
  ok: Schema.Literal(true),
  candles: listOf(LitCandle, listMaximum),
  lit: Count.annotateKey({ description: "Number of candles that burn now on the requested altars." }),
  rungs: listOf(Rung, 3),
  rails: listOf(Schema.Literals(["x402", "card"]), 2).annotate({ description: "The available ways to pay." }),
  next: Schema.NullOr(Uuid).annotate({ description: "`before` of the following page, or null." }),
}).annotate({ identifier: "CandleList", description: "Candles lit now, newest first." })

export const UnsealBody = Schema.Struct({ salt: Salt, words: Words }).annotate({
  identifier: "UnsealBody",
  description: "The salt and words that were sealed. Both become public, so that anyone can recompute the commitment.",
})

const UnsealedCandle = Schema.Struct({ ...Candle.fields, unsealed: Schema.NullOr(Unsealed) }).annotate({
  identifier: "UnsealedCandle",
  description: "A candle with its unsealed words, if any.",
})

const unsealed = (replayed: boolean) =>
  Schema.Struct({ ok: Schema.Literal(true), candle: UnsealedCandle, replayed: Schema.Literal(replayed) })

/** 201 the first time, 200 for the same data again. */
export const unsealAnswers = [
  unsealed(false).pipe(HttpApiSchema.status(201)).annotate({ description: "The candle with its unsealed words." }),
  unsealed(true).pipe(HttpApiSchema.status(200)).annotate({ description: "The same words again." }),
] as const

export class CandleNotFound extends Schema.Error<CandleNotFound>("CandleNotFound")(
  envelope("candle_not_found", "No candle or light has this id.", "Check the id, or take one that /api/candles lists."),
  at(404, "No such candle."),
) {}

export class ParentNotLit extends Schema.Error<ParentNotLit>("ParentNotLit")(
  envelope(
    "parent_not_lit",
    "parentId names no burning candle on this altar.",
    "Take the id of a candle that /api/candles lists, or leave parentId out.",
  ),
  at(409, "The parent is no lit candle of this spirit."),
) {}

export class AlreadyUnsealed extends Schema.Error<AlreadyUnsealed>("AlreadyUnsealed")(
  envelope(
    "already_unsealed",
    "This candle was unsealed before with other data. The first words stay.",
    "Read them in its record.",
  ),
  at(409, "Already unsealed."),
) {}

export class CandleNotSettled extends Schema.Error<CandleNotSettled>("CandleNotSettled")(
  envelope(
    "candle_not_settled",
    "The payment of this candle is not settled yet.",
    "Reconcile the attempt first, and do not pay again.",
  ),
  at(409, "The candle is not settled."),
) {}

export class NotSealed extends Schema.Error<NotSealed>("NotSealed")(
  envelope(
    "not_sealed",
    "This candle has no sealed words.",
    "Check the id: only a candle lit with an intentionCommitment can be unsealed.",
  ),
  at(409, "There is nothing to unseal."),
) {}

export class DedicationHeld extends Schema.Error<DedicationHeld>("DedicationHeld")(
  envelope(
    "dedication_held",
    "A dedication must not contain a link, domain, e-mail, IP or wallet address.",
    "Reword it and send it again.",
  ),
  at(422, "The dedication contains a link or an address."),
) {}

/** The durations of a candle, shortest first. */
export const rungTerms = {
  day: { days: 1, lasts: "one day", priceAtomic: 1_000_000n, cards: false },
  week: { days: 7, lasts: "seven days", priceAtomic: 3_000_000n, cards: true },
  month: { days: 30, lasts: "thirty days", priceAtomic: 9_000_000n, cards: true },
} as const

export const candleDays = [rungTerms.day.days, rungTerms.week.days, rungTerms.month.days] as const
export type CandleDays = (typeof candleDays)[number]

/** Returns the endpoint of one duration; the three differ only in days and price. */
const light = <const Name extends string, const Rung extends typeof RungName.Type>(name: Name, rung: Rung) => {
  const { lasts, ...terms } = rungTerms[rung]
  return paid(
    HttpApiEndpoint.post(name, `/api/candles/${rung}/:familiarId`, {
      params: { familiarId: SpiritId },
      headers: paidHeaders,
      payload: CandleBody,
      success: settledByAnyRail(CandleSettled),
      error: [...anyRailErrors, SpiritNotFound, ParentNotLit, DedicationHeld, CommitmentRefused],
    }).annotate(Unknown, () => new SpiritNotFound({})),
    {
      ...terms,
      action: "lightVotiveCandle",
      kind: "candle",
      plural: "Candles",
      thing: "a candle for a number of days",
      command: "light",
      repetition: "often",
      defaults: { rung },
      description: `A votive candle, or a light on one, that burns for ${lasts}`,
      parameter: "spirit-id",
      title: `Light a candle for ${lasts}`,
      summary: "A votive candle with a public dedication, or with parentId a light on a lit candle.",
    },
  )
}

export const lightDay = light("lightDay", "day")
export const lightWeek = light("lightWeek", "week")
export const lightMonth = light("lightMonth", "month")

export const candleActs = { day: lightDay, week: lightWeek, month: lightMonth } as const

export const listCandles = HttpApiEndpoint.get("listCandles", "/api/candles", {
  query: {
    spirit: Schema.optionalKey(SpiritId).annotateKey({ description: "Only candles on this spirit's altar." }),
    limit: listLimit("candles"),
    before: pageBefore,
  },
  success: CandleList,
  error: RevealBroken,
}).annotateMerge(described("Candles lit now", "Lit candles with their lights, the rungs and the rails."))

export const unsealCandle = HttpApiEndpoint.post("unsealCandle", "/api/candles/:candleId/unseal", {
  params: { candleId: Uuid },
  payload: UnsealBody,
  success: unsealAnswers,
  error: [CandleNotFound, CommitmentMismatch, AlreadyUnsealed, CandleNotSettled, NotSealed, RevealBroken],
})
  .annotateMerge(
    described(
      "Unseal the words of a candle or light",
      "Free, once. Salt and words must hash to the commitment, and both become public: everyone can then recompute it. 201 the first time, 200 for the same data again. Words that look like a link, wallet or address are stored and verified; they and their salt stay hidden.",
    ),
  )
  .annotateMerge(OpenApi.annotations({ override: { tags: ["Altar"] } }))
  .annotate(Unknown, () => new CandleNotFound({}))

export const CandlesGroup: Group<"candles", typeof listCandles | typeof unsealCandle, AltarRequests> =
  HttpApiGroup.make("candles").add(listCandles, unsealCandle).middleware(AltarRequests).annotateMerge(readsChapter)
