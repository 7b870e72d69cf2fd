/** The x402 extension `bazaar`, which describes a paid route for catalogues, from the contract of its endpoint. */
import { Schema } from "effect"
import { portable } from "../../../schema/openapi/Pattern.ts"
import type { BazaarExtension } from "../../../schema/payments/Payment.ts"
import type { PaidEndpoint } from "../../../schema/payments/Sale.ts"
import { bodyOf } from "../Act.ts"
import type { SoldAct } from "../Act.ts"

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const decodeObject = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))

/** A JSON Schema without descriptions: the challenge is a header, and it returns with the payment. */
const bare = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(bare)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => {
      if (name === "properties" && isObject(value)) {
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

const membersOf = ({ properties = {} }: Schema.JsonObject) => (isObject(properties) ? Object.keys(properties) : [])

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

const read = (endpoint: PaidEndpoint) => {
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

const calls = new WeakMap<PaidEndpoint, ReturnType<typeof read>>()

/** Cached per endpoint. */
const callOf = (endpoint: PaidEndpoint) => {
  const call = calls.get(endpoint) ?? read(endpoint)
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
