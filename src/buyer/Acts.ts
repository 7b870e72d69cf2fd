/** The acts on sale as the contract defines them: endpoint, price, request and answer of each. */
import { Option, Schema } from "effect"
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
import type { Draft, Request } from "./Purchases.ts"

const Settled = Schema.Struct({
  record: Schema.Struct({ id: Schema.String }),
  receipt: Schema.Struct({ priceUsd: Schema.String }),
  permalink: Schema.String,
  /** Answered before; nothing was charged again. */
  replayed: Schema.Boolean,
})
export type Settled = typeof Settled.Type

export type Members = Readonly<Record<string, Schema.Json | undefined>>

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
  /** The parts of a request with these members, whose names differ in the contract. Others are dropped. */
  readonly partsOf: (members: Members) => RequestParts
  /** The request, and the exact URL that a payment is bound to; throws for a request outside the contract. */
  readonly request: (altar: string, parts: RequestParts) => Pick<Draft, "url" | "request">
  /** Undefined for an answer outside the contract. */
  readonly answer: (body: unknown) => Answer | undefined
}

/** An endpoint that sells an act, with its answer. */
export type Endpoint = PaidEndpoint & Pick<HttpApiEndpoint.Top, "success">

const schemasOf = ({ params, payload, query }: Endpoint) =>
  Object.entries({ params, query, payload: [...payload.values()][0]?.schemas[0] }).flatMap(([name, schema]) =>
    schema === undefined ? [] : [[name, schema] as const],
  )

const urlOf = (altar: string, path: string, { params = {}, query = {} }: Request): string => {
  const filled = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(String(params[name] ?? "")))
  const url = new URL(altar + filled)
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value))
  return url.toString()
}

/** The JSON body of a request; empty when it has none. */
export const bodyOf = ({ payload }: Request): string => (payload === undefined ? "" : JSON.stringify(payload))

/** The members that are given, as JSON keeps them. */
const given = (members: Members = {}) =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

const define = <Answer extends Settled>(endpoint: Endpoint): Act<Answer> => {
  const parts = schemasOf(endpoint)
  const schema = typed<Request, Request>(Schema.Struct(Object.fromEntries(parts)))
  const decode = Schema.decodeUnknownOption(typed<Answer>(bodiesOf(endpoint)[0] ?? Schema.Never))
  return {
    price: endpoint.sale,
    sealing: () => fieldsOf(parts.find(([name]) => name === "payload")?.[1]).find(({ name }) => isSealing(name))?.name,
    partsOf: (members) =>
      Object.fromEntries(
        parts.map(([part, fields]) => [
          part,
          Object.fromEntries(fieldsOf(fields).map(({ name }) => [name, members[name]])),
        ]),
      ),
    request: (altar, asked) => {
      const empty = Object.fromEntries(parts.map(([name]) => [name, {}]))
      const all = { ...empty, ...Object.fromEntries(Object.entries(asked).map(([name, part]) => [name, given(part)])) }
      const decoded = Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(all)
      const request = Schema.encodeSync(schema)(decoded)
      return { url: urlOf(altar, endpoint.path, request), request }
    },
    answer: (body) => Option.getOrUndefined(decode(body)),
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

const isSettled = Schema.is(Settled)

/** The answer of an act that this version does not know. */
export const anyAnswer = (body: unknown): Settled | undefined => (isSettled(body) ? body : undefined)
