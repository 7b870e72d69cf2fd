/** The sale of an act at an endpoint, declared once where the endpoint is written. */
import type { Schema } from "effect"
import { type HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { isSealing } from "../altar/Recipe.ts"
import { optionalBody } from "../openapi/OptionalBody.ts"
import { priceUsd } from "./Payment.ts"
import type { Recorded } from "./Recorded.ts"
import { centsOf } from "./Usdc.ts"

/** How often the same thing is sold: once for ever, once in a UTC day, or as often as wanted. */
export type Repetition = "once" | "daily" | "often"

/** The words for an act in lists, commands, forms and documents. Acts of one kind share them. */
export interface ActWords {
  /** The noun, which is also the name of its filter: `prayer`. */
  readonly kind: string
  /** The heading of a list of them: `Prayers`. */
  readonly plural: string
  /** The bought thing, as the terms name it: `a sealed prayer`. */
  readonly thing: string
  /** The command that buys it: `pray`. */
  readonly command: string
}

/** The terms on which an endpoint sells its act. */
export interface Sale extends ActWords {
  /** The unique name of the act, its endpoint and its operation. */
  readonly name: string
  /** The act's name in the spend policy, where several acts share one. */
  readonly action: string
  /** Method and path template, as in the price list: `POST /api/prayers/{spirit-id}`. */
  readonly route: string
  /** Atomic USDC; `10_000n` is one cent. */
  readonly priceAtomic: bigint
  /** Earlier prices, at which older acts were sold. */
  readonly formerPrices: ReadonlyArray<bigint>
  /** Days that the bought thing lasts, if it ends. */
  readonly days?: number
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** Whether servers that take cards sell it for cards, too. */
  readonly cards: boolean
  /** Whether a request without a body is complete. */
  readonly bodyOptional: boolean
  readonly repetition: Repetition
  /** The deed, as buttons and headings name it: `Lay a prayer`. */
  readonly title: string
  /** The member of the body that takes the commitment of sealed words. */
  readonly sealed: string | undefined
  readonly recorded: Recorded
}

export interface PaidEndpoint
  extends
    HttpApiEndpoint.ConstraintRequest,
    Pick<HttpApiEndpoint.Top, "path" | "params" | "query" | "payload" | "success" | "error" | "annotations"> {
  readonly method: "POST"
  readonly sale: Sale
}

type Part<S> = [S] extends [never] ? unknown : S extends Schema.Constraint ? S["Type"] : never

/** Path, query and body of a request in one. */
export type InputOf<Endpoint extends PaidEndpoint> = Part<HttpApiEndpoint.Params<Endpoint>> &
  Part<HttpApiEndpoint.Query<Endpoint>> &
  Part<HttpApiEndpoint.Payload<Endpoint>>

/** The part of a sale that its endpoint does not tell. */
export interface SaleTerms extends ActWords {
  readonly priceAtomic: bigint
  readonly formerPrices?: ReadonlyArray<bigint>
  readonly days?: number
  readonly action?: string
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** The path parameter's name in the price list. */
  readonly parameter?: string
  readonly cards?: boolean
  readonly bodyOptional?: boolean
  readonly repetition: Repetition
  /** Values of its record where the request omits them, if they are not null; `chosen` for any value. */
  readonly defaults?: Readonly<Record<string, string>>
  /** The folder of its pages, if it is not `acts`. */
  readonly page?: string
  /** The operation's heading in the document, and the words of the button that buys it. */
  readonly title: string
  /** The operation's description, before the rule of all paid routes. */
  readonly summary: string
  /** The document's chapter, where it is not the group's. */
  readonly tag?: string
}

/** Dollars without a sign, `0.01`. */
export const dollars = (amountAtomic: bigint): string => priceUsd(amountAtomic).slice(1)

const cardOffer = (priceAtomic: bigint) => ({
  intent: "charge",
  method: "stripe",
  amount: centsOf(priceAtomic).toString(),
  currency: "usd",
  description: "Only on a server with cards: `rails` of /api/candles shows it, and the 402 carries the challenge.",
})

/**
 * `x-payment-info` in both shapes in use: AgentCash reads `price` in dollars and `protocols`, the MPP discovery draft
 * `offers` in base units. Only the live 402 has asset address and recipient.
 */
const paymentInfo = ({ cards, priceAtomic }: Sale) => ({
  price: { mode: "fixed", currency: "USD", amount: dollars(priceAtomic) },
  protocols: [{ x402: {} }, ...(cards ? [{ mpp: { method: "stripe", intent: "charge", currency: "usd" } }] : [])],
  offers: [
    { intent: "charge", method: "evm", amount: priceAtomic.toString(), currency: "USDC" },
    ...(cards ? [cardOffer(priceAtomic)] : []),
  ],
})

/** The rule of routes that are also sold for cards. */
const cardRule =
  "On a server with cards (`rails` of /api/candles) the WWW-Authenticate of the 402 offers a card payment, too: answer it with `Authorization: Payment …` and the same key."

type Parts = Pick<PaidEndpoint, "path" | "params" | "query" | "payload" | "success">

export const bodyOf = ({ payload }: Pick<Parts, "payload">): Schema.Top | undefined =>
  [...payload.values()][0]?.schemas[0]

const membersOf = (ast: Schema.Top["ast"] | undefined) => (ast?._tag === "Objects" ? ast.propertySignatures : [])

/** The names of an object schema's members. */
export const namesOf = (schema: Schema.Top | undefined): ReadonlyArray<string> =>
  membersOf(schema?.ast).map(({ name }) => String(name))

/** Records and people call the parameter `familiarId` of a path by what it names. */
export const plainName = (name: string) => (name === "familiarId" ? "spirit" : name)

/** The name that orders and commands have for a parameter of a path. */
export const inputName = (name: string) => (name === "elementId" ? "element" : plainName(name))

/** The answers of an endpoint without their headers; of an act, the settled one first. */
export const answersOf = ({ success }: Pick<Parts, "success">): ReadonlyArray<Schema.Top> =>
  [...success].map((answer) => (HttpApiSchema.isWithHeaders(answer) ? answer.schema : answer))

const recordedOf = (parts: Parts, { defaults = {}, page = "acts" }: SaleTerms): Recorded => {
  const record = answersOf(parts)
    .flatMap(({ ast }) => membersOf(ast))
    .find(({ name }) => name === "record")
  const shown = new Set(membersOf(record?.type).map(({ name }) => name))
  const given = [parts.params, parts.query, bodyOf(parts)].flatMap(namesOf).map(plainName)
  const repeated = given.filter((name) => shown.has(name))
  return {
    path: parts.path.replace(/:([A-Za-z]+)/u, (_, name: string) => `:${plainName(name)}`),
    members: { ...Object.fromEntries(repeated.map((name) => [name, null])), ...defaults },
    page,
  }
}

const saleOf = (endpoint: Parts & Pick<HttpApiEndpoint.Top, "identifier" | "method">, terms: SaleTerms): Sale => {
  const { identifier, method, path } = endpoint
  const { defaults: _, page: __, parameter, summary: ___, tag: ____, ...sale } = terms
  return {
    name: identifier,
    action: identifier,
    route: `${method} ${path.replace(/:([A-Za-z]+)/u, (_, name: string) => `{${parameter ?? name}}`)}`,
    formerPrices: [],
    cards: false,
    bodyOptional: false,
    sealed: namesOf(bodyOf(endpoint)).find(isSealing),
    recorded: recordedOf(endpoint, terms),
    ...sale,
  }
}

/**
 * Puts an act on sale at an endpoint; price, document and challenge come from this one place. The endpoint has the
 * act's name and declares `paidHeaders`, `settled(…)`, `paidErrors` and its own refusals.
 */
export const paid = <
  Name extends string,
  Path extends string,
  Params extends Schema.Top,
  Query extends Schema.Top,
  Payload extends Schema.Top,
  Headers extends Schema.Top,
  Success extends Schema.Top,
  Refusal extends Schema.Top,
>(
  endpoint: HttpApiEndpoint.HttpApiEndpoint<Name, "POST", Path, Params, Query, Payload, Headers, Success, Refusal>,
  terms: SaleTerms,
): HttpApiEndpoint.HttpApiEndpoint<Name, "POST", Path, Params, Query, Payload, Headers, Success, Refusal> & {
  readonly sale: Sale
} => {
  const sale = saleOf(endpoint, terms)
  const documented = endpoint.annotateMerge(
    OpenApi.annotations({
      summary: `${terms.title} (${dollars(sale.priceAtomic)} USD)`,
      description: sale.cards ? `${terms.summary} ${cardRule}` : terms.summary,
      override: {
        ...(terms.tag === undefined ? {} : { tags: [terms.tag] }),
        "x-payment-info": paymentInfo(sale),
      },
    }),
  )
  return Object.assign(sale.bodyOptional ? documented.annotateMerge(optionalBody) : documented, { sale })
}
