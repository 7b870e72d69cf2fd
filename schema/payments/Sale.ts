/** What is sold at an endpoint: said once, where the endpoint is written; whoever shows or pays a price reads it here. */
import { Context, type Schema } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { optionalBody } from "../openapi/OptionalBody.ts"
import { priceUsd } from "./Payment.ts"
import { centsOf } from "./Usdc.ts"

/** The terms on which an endpoint sells its act. */
export interface Sale {
  /** Unique: the name of the act, of its endpoint and of its operation. */
  readonly name: string
  /** What the spend policy calls it, when several acts share a name there. */
  readonly action: string
  /** Method and path template, as in the price list: `POST /api/prayers/{spirit-id}`. */
  readonly route: string
  /** Atomic USDC (6 decimals); `10_000n` is one cent. */
  readonly priceAtomic: bigint
  /** How long what is bought lasts, if it ends. */
  readonly days?: number
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** Whether it is sold for cards, too, where a server takes them. */
  readonly cards: boolean
  /** Whether a request without a body is complete. */
  readonly bodyOptional: boolean
}

/** The sale of an endpoint found by reflection; undefined where nothing is sold. */
export const Sold = Context.Reference<Sale | undefined>("spirit-altar/schema/payments/Sold", {
  defaultValue: () => undefined,
})

/** An endpoint that sells an act, with its sale. */
export interface PaidEndpoint
  extends
    HttpApiEndpoint.ConstraintRequest,
    Pick<HttpApiEndpoint.Top, "path" | "params" | "query" | "payload" | "annotations"> {
  readonly method: "POST"
  readonly sale: Sale
}

/** What is said of a sale beside its endpoint. */
export interface Terms {
  readonly priceAtomic: bigint
  readonly days?: number
  readonly action?: string
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** What the price list calls the parameter of the path. */
  readonly parameter?: string
  readonly cards?: boolean
  readonly bodyOptional?: boolean
  /** The heading of the operation in the document. */
  readonly title: string
  /** What the document says of the operation, before the rule of all paid routes. */
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
  description: "Where the server takes cards: `rails` of /api/candles says so, and the 402 carries the challenge.",
})

/**
 * `x-payment-info` in both shapes that are read in the field: AgentCash takes `price` in dollars with `protocols`, the
 * MPP discovery draft `offers` in base units. Asset address and recipient stand in the live 402 alone.
 */
const paymentInfo = ({ cards, priceAtomic }: Sale) => ({
  price: { mode: "fixed", currency: "USD", amount: dollars(priceAtomic) },
  protocols: [{ x402: {} }, ...(cards ? [{ mpp: { method: "stripe", intent: "charge", currency: "usd" } }] : [])],
  offers: [
    { intent: "charge", method: "evm", amount: priceAtomic.toString(), currency: "USDC" },
    ...(cards ? [cardOffer(priceAtomic)] : []),
  ],
})

/** Said of the routes that are sold for cards, too. */
const cardRule =
  "Where the server takes cards (`rails` of /api/candles), WWW-Authenticate on the 402 carries a Machine Payments Protocol challenge as well (`stripe`, `charge`), for this very request; answer it with `Authorization: Payment …` and the same Idempotency-Key."

const paidRule =
  "Paid by x402 v2 (`exact`, USDC). Without PAYMENT-SIGNATURE the answer is 402 with the offer. With it, send an Idempotency-Key or set the payment-identifier id. The signed resource URL must equal this request's URL. A retry with the same key, URL and body never pays twice; 202 means the outcome is not known yet: reconcile, do not pay again."

const saleOf = (
  { identifier, method, path }: Pick<HttpApiEndpoint.Top, "identifier" | "method" | "path">,
  terms: Terms,
) => {
  const { action = identifier, bodyOptional = false, cards = false, days, description, parameter, priceAtomic } = terms
  const route = `${method} ${path.replace(/:([A-Za-z]+)/u, (_, name: string) => `{${parameter ?? name}}`)}`
  const sale: Sale = {
    name: identifier,
    action,
    route,
    priceAtomic,
    description,
    cards,
    bodyOptional,
    ...(days === undefined ? {} : { days }),
  }
  return sale
}

/**
 * Puts an act on sale at an endpoint: price, document and challenge come from this one place. The endpoint's name is
 * the act's name; it declares `paidHeaders`, `settled(…)` and `paidErrors` with refusals of its own.
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
  const rules = sale.cards ? [terms.summary, cardRule, paidRule] : [terms.summary, paidRule]
  const documented = endpoint
    .annotateMerge(
      OpenApi.annotations({
        summary: `${terms.title} (${dollars(sale.priceAtomic)} USD)`,
        description: rules.join(" "),
        override: {
          ...(terms.tag === undefined ? {} : { tags: [terms.tag] }),
          "x-payment-info": paymentInfo(sale),
        },
      }),
    )
    .annotate(Sold, sale)
  return Object.assign(sale.bodyOptional ? documented.annotateMerge(optionalBody) : documented, { sale })
}
