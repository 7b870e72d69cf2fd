/** The paid acts as a buyer sees them: what is sent, under which price, and what comes back. One line of a table each. */
import { Effect, Schema } from "effect"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import { CandleBody } from "../../schema/altar/Candle.ts"
import { ElementId } from "../../schema/altar/Collectible.ts"
import { WhyBody } from "../../schema/altar/Keeper.ts"
import { Day, PrayerBody } from "../../schema/altar/Prayer.ts"
import { lightDay, lightMonth, lightWeek } from "../../schema/altar/Candle.ts"
import { collectMaterial } from "../../schema/altar/Collectible.ts"
import { takeIn } from "../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../schema/altar/Prayer.ts"
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import type { Sale } from "../../schema/payments/Sale.ts"
import { SpiritId } from "../../schema/altar/Spirit.ts"
import { WitnessBody } from "../../schema/altar/Witness.ts"
import type { Client, Urls } from "./Client.ts"

export interface Headers {
  readonly "idempotency-key": string
  readonly "payment-signature"?: string
}

export type Sent<Answer> =
  | { readonly _tag: "Settled"; readonly answer: Answer }
  | { readonly _tag: "Pending"; readonly seconds: number }

interface Reply {
  readonly body: object
  readonly headers: object
}

/** One act of one buyer, ready to be sent any number of times under one key. */
export interface Errand<Answer> {
  readonly price: Sale
  readonly url: string
  /** The request as the journal keeps it. */
  readonly request: Schema.Json
  readonly send: (headers: Headers) => Effect.Effect<Sent<Answer>, unknown>
  /** Asks where it was sent how it ended. */
  readonly reconcile: (key: string) => Effect.Effect<Reply, unknown>
}

const isSettled = <Body extends object>(body: Body): body is Exclude<Body, SettlementPending> => "record" in body

/** Seconds to wait as an altar asks for it: one to sixty, whatever it says. */
export const waitOf = (asked: number): number => Math.min(60, Math.max(1, asked || 2))

/** Seconds of `Retry-After`; two when there is none. */
export const secondsOf = (headers: object): number =>
  waitOf("retry-after" in headers ? Number(headers["retry-after"]) : 2)

const sent = <Body extends object>(body: Body, headers: object): Sent<Exclude<Body, SettlementPending>> =>
  isSettled(body) ? { _tag: "Settled", answer: body } : { _tag: "Pending", seconds: secondsOf(headers) }

const define = <Request, Answer extends Reply>(
  price: Sale,
  schema: Schema.Codec<Request, Schema.Json>,
  url: (urls: Urls, request: Request) => string,
  send: (client: Client, request: Request, headers: Headers) => Effect.Effect<Answer, unknown>,
) => {
  type Own = Errand<Exclude<Answer["body"], SettlementPending>>
  /** Fails for a request that the contract does not know. */
  const errand = (client: Client, urls: Urls, request: Request): Effect.Effect<Own, Schema.SchemaError> =>
    Effect.map(Schema.encodeEffect(schema)(request), (kept) => ({
      price,
      url: url(urls, request),
      request: kept,
      send: (headers) =>
        Effect.map(send(client, request, headers), (reply) => sent<Answer["body"]>(reply.body, reply.headers)),
      reconcile: (key) => client.payments.reconcile({ params: { idempotencyKey: key } }),
    }))
  return {
    errand,
    /** The same errand, from what the journal kept. */
    again: (client: Client, urls: Urls, request: Schema.Json): Effect.Effect<Own, Schema.SchemaError> =>
      Effect.flatMap(Schema.decodeEffect(schema)(request), (read) => errand(client, urls, read)),
  }
}

const spirit = Schema.Struct({ familiarId: SpiritId })
const candle = Schema.Struct({ params: spirit, payload: CandleBody })

export const acts = {
  setWitnessStone: define(
    setWitnessStone.sale,
    Schema.Struct({ payload: WitnessBody }),
    (urls) => urls.paid.setWitnessStone(),
    (client, request, headers) => client.paid.setWitnessStone({ ...request, headers }),
  ),
  offerPrayer: define(
    offerPrayer.sale,
    Schema.Struct({ params: spirit, query: Schema.Struct({ day: Schema.optionalKey(Day) }), payload: PrayerBody }),
    (urls, request) => urls.paid.offerPrayer(request),
    (client, request, headers) => client.paid.offerPrayer({ ...request, headers }),
  ),
  takeIn: define(
    takeIn.sale,
    Schema.Struct({ params: spirit, payload: WhyBody }),
    (urls, request) => urls.paid.takeIn(request),
    (client, request, headers) => client.paid.takeIn({ ...request, headers }),
  ),
  collectMaterial: define(
    collectMaterial.sale,
    Schema.Struct({
      params: Schema.Struct({ elementId: ElementId }),
      query: Schema.Struct({ spirit: Schema.optionalKey(SpiritId) }),
      payload: WhyBody,
    }),
    (urls, request) => urls.paid.collectMaterial(request),
    (client, request, headers) => client.paid.collectMaterial({ ...request, headers }),
  ),
  lightDay: define(
    lightDay.sale,
    candle,
    (urls, request) => urls.paid.lightDay(request),
    (client, request, headers) => client.paid.lightDay({ ...request, headers }),
  ),
  lightWeek: define(
    lightWeek.sale,
    candle,
    (urls, request) => urls.paid.lightWeek(request),
    (client, request, headers) => client.paid.lightWeek({ ...request, headers }),
  ),
  lightMonth: define(
    lightMonth.sale,
    candle,
    (urls, request) => urls.paid.lightMonth(request),
    (client, request, headers) => client.paid.lightMonth({ ...request, headers }),
  ),
}

export type ActName = keyof typeof acts

export const isActName = (name: string): name is ActName => Object.hasOwn(acts, name)

/** Any act's answer. */
export interface Settled {
  readonly record: { readonly id: string }
  readonly permalink: string
}

/** The errand that the journal kept of an act. */
export const again = (
  name: ActName,
  client: Client,
  urls: Urls,
  request: Schema.Json,
): Effect.Effect<Errand<Settled>, Schema.SchemaError> => acts[name].again(client, urls, request)
