/** The acts on sale as the contract defines them: endpoint, price, request and answer of each. */
import { Effect, Schema } from "effect"
import { type HttpApiClient, type HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { lightDay, lightMonth, lightWeek } from "../../schema/altar/Candle.ts"
import { collectMaterial } from "../../schema/altar/Collectible.ts"
import { takeIn } from "../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../schema/altar/Prayer.ts"
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { type Field, fieldsOf } from "../../schema/Form.ts"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import type { PaidEndpoint, Sale } from "../../schema/payments/Sale.ts"

export interface Settled {
  readonly record: { readonly id: string }
  readonly receipt: { readonly priceUsd: string }
  readonly permalink: string
  /** Answered before; nothing was charged again. */
  readonly replayed: boolean
}

/** One purchase, ready to be sent any number of times under one key. */
export interface Order<Answer> {
  readonly act: string
  readonly price: Sale
  /** The exact URL that a payment is bound to. */
  readonly url: string
  readonly request: Schema.Json
  /** Fails for an answer outside the contract. */
  readonly answer: (body: unknown) => Effect.Effect<Answer, Schema.SchemaError>
}

export interface Act<Request = unknown, Answer extends Settled = Settled> {
  /** The name on the wire, in the journal and in the price list. */
  readonly name: string
  readonly price: Sale
  readonly summary: string
  /** The members of the request's path, query and body. */
  readonly fields: () => RequestFields
  readonly answer: Order<Answer>["answer"]
  /** The purchase of a request at an altar; fails for a request outside the contract. */
  order(altar: string, request: Request): Effect.Effect<Order<Answer>, Schema.SchemaError>
  /** Parses a request from texts, such as a command line's. */
  read(texts: unknown): Effect.Effect<Request, Schema.SchemaError>
}

interface RequestFields {
  readonly params: ReadonlyArray<Field>
  readonly query: ReadonlyArray<Field>
  readonly payload: ReadonlyArray<Field>
}

interface RequestParts {
  readonly params?: Schema.Top
  readonly query?: Schema.Top
  readonly payload?: Schema.Top
}

type Part<Name extends string, S extends Schema.Constraint> = [S["Type"]] extends [never]
  ? {}
  : { readonly [Key in Name]: S["Type"] }

type RequestOf<E extends HttpApiEndpoint.ConstraintRequest> = Part<"params", E["~Params"]> &
  Part<"query", E["~Query"]> &
  Part<"payload", E["~Payload"]>

type AnswerOf<E extends HttpApiEndpoint.ConstraintRequest> =
  HttpApiClient.SuccessType<E["~Success"]> extends { readonly body: infer Body }
    ? Exclude<Body, SettlementPending>
    : never

/** Endpoints erase the types of their schemas; this guard restores them. The contract's schemas need no services. */
const isOf = <Type>(schema: Schema.Top): schema is Schema.Codec<Type, Schema.Json> => Schema.isSchema(schema)

const typed = <Type>(schema: Schema.Top): Schema.Codec<Type, Schema.Json> => {
  if (isOf<Type>(schema)) return schema
  throw new TypeError("An endpoint of the contract holds something that is no schema.")
}

/** An endpoint that sells an act, with its answer. */
export type Endpoint = PaidEndpoint & Pick<HttpApiEndpoint.Top, "success">

const partsOf = (endpoint: Endpoint): RequestParts => {
  const payload = [...endpoint.payload.values()][0]?.schemas[0]
  return {
    ...(endpoint.params === undefined ? {} : { params: endpoint.params }),
    ...(endpoint.query === undefined ? {} : { query: endpoint.query }),
    ...(payload === undefined ? {} : { payload }),
  }
}

/** The body of 200; 201 has the same. */
const answerOf = ({ success }: Endpoint): Schema.Top => {
  const [first = Schema.Never] = success
  return Schema.toCodecJson(HttpApiSchema.isWithHeaders(first) ? first.schema : first)
}

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

const define = <Request, Answer extends Settled>(endpoint: Endpoint): Act<Request, Answer> => {
  const { sale: price } = endpoint
  const parts = partsOf(endpoint)
  const request = typed<Request>(Schema.Struct({ ...parts }))
  const answer = Schema.decodeUnknownEffect(typed<Answer>(answerOf(endpoint)))
  return {
    name: price.name,
    price,
    summary: price.description,
    fields: () => ({
      params: fieldsOf(parts.params),
      query: fieldsOf(parts.query),
      payload: fieldsOf(parts.payload),
    }),
    answer,
    read: Schema.decodeUnknownEffect(request, { onExcessProperty: "error" }),
    order: (altar, given) =>
      Effect.map(Schema.encodeEffect(request)(given), (kept) => ({
        act: price.name,
        price,
        url: urlOf(altar, endpoint.path, kept),
        request: kept,
        answer,
      })),
  }
}

const actOf = <E extends Endpoint>(endpoint: E) => define<RequestOf<E>, AnswerOf<E> & Settled>(endpoint)

/** The acts with methods of their own in the library. */
export const acts = {
  setWitnessStone: actOf(setWitnessStone),
  offerPrayer: actOf(offerPrayer),
  takeIn: actOf(takeIn),
  collectMaterial: actOf(collectMaterial),
  candles: [actOf(lightDay), actOf(lightWeek), actOf(lightMonth)],
} as const

export const catalogOf = (endpoints: ReadonlyArray<Endpoint>): ReadonlyMap<string, Act> =>
  new Map(endpoints.map((endpoint) => [endpoint.sale.name, define<unknown, Settled>(endpoint)]))

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
