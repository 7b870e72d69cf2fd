/** The price, token and recipient of every 402 offer, or the names of missing settings. */
import { Context, Layer, Schema } from "effect"
import type { Address } from "../../schema/Common.ts"
import { isJsonObject } from "../../schema/Json.ts"
import type { BazaarExtension, Challenge, PaymentRequirements } from "../../schema/payments/Payment.ts"
import type { SoldAct } from "./Act.ts"
import type { RailName } from "./Payment.ts"
import { binding, identifier } from "../../schema/payments/Examples.ts"
import { portable } from "../../schema/openapi/Pattern.ts"
import { bodyOf, type PaidEndpoint } from "../../schema/payments/Sale.ts"

const decodeObject = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))

/** A JSON Schema without descriptions: the challenge is a header, and it returns with the payment. */
const bare = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(bare)
  if (!isJsonObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => {
      if (name === "properties" && isJsonObject(value)) {
        return [[name, Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bare(member)]))]]
      }
      if (name === "pattern" && typeof value === "string") return [[name, portable(value)]]
      return ["description", "examples", "allOf", "title"].includes(name) ? [] : [[name, bare(value)]]
    }),
  )
}

const jsonSchemaOf = (schema: Schema.Top | undefined): Schema.JsonObject =>
  schema === undefined
    ? {}
    : decodeObject(Schema.toJsonSchemaDocument(schema, { referencePolicy: () => undefined }).schema)

const closed = (schema: Schema.JsonObject): Schema.Json => bare({ ...schema, additionalProperties: false })

const membersOf = ({ properties = {} }: Schema.JsonObject) => (isJsonObject(properties) ? Object.keys(properties) : [])

/** Parameter names without their values, which are long lists and part of the OpenAPI document. */
const texts = (schema: Schema.JsonObject): Schema.Json => ({
  type: "object",
  properties: Object.fromEntries(membersOf(schema).map((name) => [name, { type: "string" }])),
  additionalProperties: false,
})

/** The parameters of a request that a schema names. */
const chosen = (parameters: Schema.JsonObject, schema: Schema.JsonObject) => {
  const members = membersOf(schema)
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => members.includes(name)))
}

/** Discovery requires an output. The contract holds the full one. */
const output = { properties: { example: { type: "object" } } }

const describeCall = (endpoint: PaidEndpoint) => {
  const [body, pathParams, queryParams] = [
    jsonSchemaOf(bodyOf(endpoint)),
    jsonSchemaOf(endpoint.params),
    jsonSchemaOf(endpoint.query),
  ]
  const properties = {
    type: { const: "http" },
    method: { const: endpoint.method },
    bodyType: { const: "json" },
    body: closed(body),
    // Path parameters need no schema here: a proxy's buffer for a whole head is 4 KiB.
    ...(endpoint.params === undefined ? {} : { pathParams: { type: "object" } }),
    ...(endpoint.query === undefined ? {} : { queryParams: texts(queryParams) }),
  }
  const required = ["type", "method", "bodyType", "body", ...(endpoint.params === undefined ? [] : ["pathParams"])]
  return {
    method: endpoint.method,
    path: endpoint.path,
    body,
    pathParams,
    queryParams,
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { input: { type: "object", properties, required, additionalProperties: false }, output },
      required: ["input"],
    },
  }
}

const calls = new WeakMap<PaidEndpoint, ReturnType<typeof describeCall>>()

/** Cached per endpoint. */
const callOf = (endpoint: PaidEndpoint) => {
  const call = calls.get(endpoint) ?? describeCall(endpoint)
  calls.set(endpoint, call)
  return call
}

const exampleOf = ({ examples }: Schema.JsonObject): Schema.Json =>
  Array.isArray(examples) && examples[0] !== undefined ? examples[0] : {}

/** The declaration of an act for one request with its path and query parameters. Its body is the contract's example. */
export const bazaarOf = ({ endpoint }: SoldAct, parameters: Schema.JsonObject): BazaarExtension => {
  const call = callOf(endpoint)
  const pathParams = chosen(parameters, call.pathParams)
  const queryParams = chosen(parameters, call.queryParams)
  const hasPath = Object.keys(pathParams).length > 0
  return {
    ...(hasPath ? { routeTemplate: call.path } : {}),
    info: {
      input: {
        type: "http",
        method: call.method,
        bodyType: "json",
        body: exampleOf(call.body),
        ...(hasPath ? { pathParams } : {}),
        ...(Object.keys(queryParams).length > 0 ? { queryParams } : {}),
      },
      output: { type: "json" },
    },
    schema: call.schema,
  }
}

/** The recipient and token of payments, shared by all servers of one altar. */
export interface Terms {
  /** CAIP-2, `eip155:<chain id>`. */
  readonly network: `eip155:${number}`
  readonly asset: Address
  /** EIP-712 domain of the asset. */
  readonly assetName: string
  readonly assetVersion: string
  readonly payTo: Address
  /** The lifetime of a client's authorization in seconds. 300 more are accepted because clocks differ. */
  readonly maxTimeoutSeconds: number
  /** The settling party, in words for the catalogs. */
  readonly settledBy: string
  /** Whether the facilitator catalogues routes by the extensions of their payments. */
  readonly isCatalogued: boolean
  /** Whether the token is play money that its faucet gives away. */
  readonly isPlayMoney?: boolean
  /** Explorer page of a transaction. `{tx}` is replaced by its hash. */
  readonly explorer: string
}

/** An offer: price in atomic USDC, the canonical URL and a description for the wallet's owner. */
export interface Offer {
  readonly amountAtomic: bigint
  readonly url: string
  readonly description: string
  /** SHA-256 of the request's canonical body, hex; absent where no payment is judged. */
  readonly bodySha256?: string
  /** Describes the call for a catalogue; absent in a refusal, whose header must stay short. */
  readonly bazaar?: () => BazaarExtension | undefined
}

/** An act at one URL, with the URL's path and query parameters. */
export interface OfferedAct {
  readonly act: SoldAct
  readonly url: string
  readonly parameters: Schema.JsonObject
  /** SHA-256 of the request's canonical body, hex; absent while the body is unread. */
  readonly bodySha256?: string
}

export const offerOf = ({ act, bodySha256, parameters, url }: OfferedAct): Offer => ({
  amountAtomic: act.priceAtomic,
  url,
  description: act.description,
  ...(bodySha256 === undefined ? {} : { bodySha256 }),
  bazaar: () => bazaarOf(act, parameters),
})

export const requirementsOf = (terms: Terms, amountAtomic: bigint): PaymentRequirements => ({
  scheme: "exact",
  network: terms.network,
  amount: amountAtomic.toString(),
  asset: terms.asset,
  payTo: terms.payTo,
  maxTimeoutSeconds: terms.maxTimeoutSeconds,
  extra: { name: terms.assetName, version: terms.assetVersion, paymentFlow: "upfront" },
})

/** The description of an offer, with the address of the terms, which say when a payment is returned. */
const described = ({ description, url }: Offer) => `${description}. Refunds: ${new URL(url).origin}/terms`

/** Bytes of the JSON whose base64 has the 1,536 bytes that `PAYMENT-REQUIRED` may have. */
const challengeMaximum = 1152

const excessOf = (challenge: Challenge) => Math.max(0, Buffer.byteLength(JSON.stringify(challenge)) - challengeMaximum)

/** Without the address of the terms, and with as much of its error as then fits. A character has at least one byte. */
const shortened = (challenge: Challenge, { description }: Offer): Challenge => {
  const short = { ...challenge, resource: { ...challenge.resource, description } }
  const characters = [...challenge.error]
  return { ...short, error: characters.slice(0, Math.max(0, characters.length - excessOf(short))).join("") }
}

/** The catalogue's extension is only sent to its facilitator: proxies limit a whole head to 4 KB by default. */
export const challengeOf = (terms: Terms, offer: Offer, error: string): Challenge => {
  const whole: Challenge = {
    x402Version: 2,
    error,
    resource: { url: offer.url, description: described(offer), mimeType: "application/json" },
    accepts: [requirementsOf(terms, offer.amountAtomic)],
    extensions: { "payment-identifier": identifier, "request-binding": binding },
  }
  const challenge = excessOf(whole) === 0 ? whole : shortened(whole, offer)
  const bazaar = terms.isCatalogued ? offer.bazaar?.() : undefined
  return bazaar === undefined ? challenge : { ...challenge, extensions: { ...challenge.extensions, bazaar } }
}

export class PaymentTerms extends Context.Service<
  PaymentTerms,
  | { readonly _tag: "Ready"; readonly terms: Terms; readonly rails: ReadonlyArray<RailName> }
  | { readonly _tag: "NotConfigured"; readonly missing: ReadonlyArray<string> }
>()("spirit-altar/payments/PaymentTerms") {
  static readonly ready = (terms: Terms, rails: ReadonlyArray<RailName>) =>
    Layer.succeed(PaymentTerms, PaymentTerms.of({ _tag: "Ready", terms, rails }))
  static readonly notConfigured = (missing: ReadonlyArray<string>) =>
    Layer.succeed(PaymentTerms, PaymentTerms.of({ _tag: "NotConfigured", missing }))
}
