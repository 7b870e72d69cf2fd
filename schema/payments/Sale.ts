/** The sale of an act at an endpoint, declared once where the endpoint is written. */
import type { Schema } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { optionalBody } from "../openapi/OptionalBody.ts"
import { priceUsd } from "./Payment.ts"
import { centsOf } from "./Usdc.ts"

/** The terms on which an endpoint sells its act. */
export interface Sale {
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
}

export interface PaidEndpoint
  extends
    HttpApiEndpoint.ConstraintRequest,
    Pick<HttpApiEndpoint.Top, "path" | "params" | "query" | "payload" | "annotations"> {
  readonly method: "POST"
  readonly sale: Sale
}

/** The part of a sale that its endpoint does not tell. */
export interface Terms {
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
  /** The operation's heading in the document. */
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

const saleOf = (
  { identifier, method, path }: Pick<HttpApiEndpoint.Top, "identifier" | "method" | "path">,
  { parameter, summary: _, tag: __, title: ___, ...terms }: Terms,
): Sale => ({
  name: identifier,
  action: identifier,
  route: `${method} ${path.replace(/:([A-Za-z]+)/u, (_, name: string) => `{${parameter ?? name}}`)}`,
  formerPrices: [],
  cards: false,
  bodyOptional: false,
  ...terms,
})

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
  terms: Terms,
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
