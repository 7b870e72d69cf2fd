/** The acts on sale as the contract defines them: endpoint, price, request and answer of each. */
import { Effect, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { lightDay, lightMonth, lightWeek } from "../../schema/altar/Candle.ts"
import { collectMaterial } from "../../schema/altar/Collectible.ts"
import { takeIn } from "../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../schema/altar/Prayer.ts"
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { isSealing } from "../../schema/altar/Recipe.ts"
import { fieldsOf } from "../../schema/Form.ts"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import type { PaidEndpoint, Sale } from "../../schema/payments/Sale.ts"
import { bodiesOf, type BodyOf, typed } from "./Client.ts"

export interface Settled {
  readonly record: { readonly id: string }
  readonly receipt: { readonly priceUsd: string }
  readonly permalink: string
  /** Answered before; nothing was charged again. */
  readonly replayed: boolean
}

/** One purchase, ready to be sent any number of times under one key. */
export interface Order<Answer> {
  readonly price: Sale
  /** The exact URL that a payment is bound to. */
  readonly url: string
  readonly request: Schema.Json
  /** Fails for an answer outside the contract. */
  readonly answer: (body: unknown) => Effect.Effect<Answer, Schema.SchemaError>
}

type Members = Readonly<Record<string, Schema.Json | undefined>>

/** A request in the texts of its contract. */
export interface RequestParts {
  readonly params?: Members
  readonly query?: Members
  readonly payload?: Members
}

export interface Act<Answer extends Settled = Settled> {
  readonly price: Sale
  /** The member of the body that takes the commitment of sealed words. */
  readonly sealing: () => string | undefined
  readonly answer: Order<Answer>["answer"]
  /** The purchase of a request at an altar; fails for a request outside the contract. */
  readonly order: (altar: string, request: RequestParts) => Effect.Effect<Order<Answer>, Schema.SchemaError>
}

/** An endpoint that sells an act, with its answer. */
export type Endpoint = PaidEndpoint & Pick<HttpApiEndpoint.Top, "success">

const schemasOf = ({ params, payload, query }: Endpoint) =>
  Object.entries({ params, query, payload: [...payload.values()][0]?.schemas[0] }).flatMap(([name, schema]) =>
    schema === undefined ? [] : [[name, schema] as const],
  )

const isObject = Schema.is(Schema.Record(Schema.String, Schema.Json))

const textsIn = (part: unknown): ReadonlyArray<readonly [string, string]> =>
  isObject(part) ? Object.entries(part).map(([name, value]) => [name, String(value)]) : []

const urlOf = (altar: string, path: string, request: Schema.Json): string => {
  const [params, query] = isObject(request) ? [request["params"], request["query"]] : []
  const values = new Map(textsIn(params))
  const filled = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(values.get(name) ?? ""))
  const url = new URL(altar + filled)
  for (const [name, value] of textsIn(query)) url.searchParams.append(name, value)
  return url.toString()
}

/** The JSON body of a stored request; empty when it has none. */
export const bodyOf = (request: Schema.Json): string =>
  isObject(request) && request["payload"] !== undefined ? JSON.stringify(request["payload"]) : ""

/** The members that are given, as JSON keeps them. */
const given = (members: Members = {}) =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

const define = <Answer extends Settled>(endpoint: Endpoint): Act<Answer> => {
  const { sale: price } = endpoint
  const parts = schemasOf(endpoint)
  const request = typed<Schema.Json>(Schema.Struct(Object.fromEntries(parts)))
  const answer = Schema.decodeUnknownEffect(typed<Answer>(bodiesOf(endpoint)[0] ?? Schema.Never))
  return {
    price,
    sealing: () => fieldsOf(parts.find(([name]) => name === "payload")?.[1]).find(({ name }) => isSealing(name))?.name,
    answer,
    order: Effect.fnUntraced(function* (altar, asked) {
      const empty = Object.fromEntries(parts.map(([name]) => [name, {}]))
      const all = { ...empty, ...Object.fromEntries(Object.entries(asked).map(([name, part]) => [name, given(part)])) }
      const decoded = yield* Schema.decodeUnknownEffect(request, { onExcessProperty: "error" })(all)
      const kept = yield* Schema.encodeEffect(request)(decoded)
      return { price, url: urlOf(altar, endpoint.path, kept), request: kept, answer }
    }),
  }
}

const actOf = <E extends Endpoint>(endpoint: E) => define<Exclude<BodyOf<E>, SettlementPending> & Settled>(endpoint)

/** The acts with methods of their own in the library. */
export const acts = {
  setWitnessStone: actOf(setWitnessStone),
  offerPrayer: actOf(offerPrayer),
  takeIn: actOf(takeIn),
  collectMaterial: actOf(collectMaterial),
  candles: [actOf(lightDay), actOf(lightWeek), actOf(lightMonth)],
} as const

export const catalogOf = (endpoints: ReadonlyArray<Endpoint>): ReadonlyMap<string, Act> =>
  new Map(endpoints.map((endpoint) => [endpoint.sale.name, define<Settled>(endpoint)]))

export const catalog = catalogOf(sales)

const isSettled = Schema.is(
  Schema.Struct({
    record: Schema.Struct({ id: Schema.String }),
    receipt: Schema.Struct({ priceUsd: Schema.String }),
    permalink: Schema.String,
    replayed: Schema.Boolean,
  }),
)

/** Decodes the answer of an act that this version does not know. */
export const anyAnswer = (body: unknown): Effect.Effect<Settled, Schema.SchemaError> =>
  isSettled(body) ? Effect.succeed(body) : Schema.decodeUnknownEffect(Schema.Never)(body)
