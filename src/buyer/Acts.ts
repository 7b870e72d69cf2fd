/** The acts on sale as the contract defines them: endpoint, price, request and answer of each. */
import { Option, Schema } from "effect"
import { sales } from "../../schema/altar/Sales.ts"
import type { Recorded } from "../../schema/payments/Recorded.ts"
import { bodyOf as payloadOf, inputName, namesOf, type PaidEndpoint, type Sale } from "../../schema/payments/Sale.ts"
import { bodiesOf, typed } from "./Client.ts"
import type { Purchase, Request } from "./core/Purchase.ts"

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

/** The name of an act and the amount that is paid for it. */
export type Price = Pick<Sale, "name" | "priceAtomic">

export interface Act<Answer extends Settled = Settled> {
  readonly price: Price
  /** The member of the body that takes the commitment of sealed words. */
  readonly sealed: string | undefined
  readonly recorded: Recorded
  /** The parts of a request with these members. Their names differ in the contract, and the body has all others. */
  readonly partsOf: (members: Members) => RequestParts
  /** The request, and the exact URL that a payment is bound to; throws for a request outside the contract. */
  readonly request: (altar: string, parts: RequestParts) => Pick<Purchase, "url" | "request">
  /** Undefined for an answer outside the contract. */
  readonly answer: (body: unknown) => Answer | undefined
}

const schemasOf = (endpoint: PaidEndpoint) =>
  Object.entries({ params: endpoint.params, query: endpoint.query, payload: payloadOf(endpoint) }).flatMap(
    ([name, schema]) => (schema === undefined ? [] : [[name, schema] as const]),
  )

export const urlOf = (altar: string, path: string, { params = {}, query = {} }: Request): string => {
  const filled = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(String(params[name] ?? "")))
  const url = new URL(altar + filled)
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value))
  return url.toString()
}

/** The members that are given, as JSON keeps them. */
export const given = (members: Members = {}) =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

const picked = (members: Members, names: ReadonlyArray<string>): Members =>
  Object.fromEntries(names.map((name) => [name, members[inputName(name)]]))

/** Sorts the members of an order by where the request has them. */
export const partsIn =
  (path: ReadonlyArray<string>, query: ReadonlyArray<string>): Act["partsOf"] =>
  ({ commitment: _, key: __, salt: ___, words: ____, ...members }) => {
    const others = new Set([...path, ...query].map(inputName))
    const body = Object.entries(members).filter(([name]) => !others.has(name))
    return {
      ...(path.length === 0 ? {} : { params: picked(members, path) }),
      ...(query.length === 0 ? {} : { query: picked(members, query) }),
      payload: Object.fromEntries(body),
    }
  }

const define = (endpoint: PaidEndpoint): Act => {
  const parts = schemasOf(endpoint)
  const schema = typed<Request, Request>(Schema.Struct(Object.fromEntries(parts)))
  const decode = Schema.decodeUnknownOption(typed<Settled>(bodiesOf(endpoint)[0] ?? Schema.Never))
  return {
    price: endpoint.sale,
    sealed: endpoint.sale.sealed,
    recorded: endpoint.sale.recorded,
    partsOf: partsIn(namesOf(endpoint.params), namesOf(endpoint.query)),
    request: (altar, input) => {
      const empty = Object.fromEntries(parts.map(([name]) => [name, {}]))
      const all = { ...empty, ...Object.fromEntries(Object.entries(input).map(([name, part]) => [name, given(part)])) }
      const decoded = Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(all)
      const request = Schema.encodeSync(schema)(decoded)
      return { url: urlOf(altar, endpoint.path, request), request }
    },
    answer: (body) => Option.getOrUndefined(decode(body)),
  }
}

/** The acts that this version lists. */
export const catalog: ReadonlyMap<string, Act> = new Map(
  sales.map((endpoint) => [endpoint.sale.name, define(endpoint)]),
)

const isSettled = Schema.is(Settled)

/** The answer of an act that this version does not know. */
export const anyAnswer = (body: unknown): Settled | undefined => (isSettled(body) ? body : undefined)
