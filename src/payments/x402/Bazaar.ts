/** The x402 extension `bazaar`: how a paid route is called, for catalogues, read from the contract of its endpoint. */
import { Schema } from "effect"
import type { BazaarExtension } from "../../../schema/payments/Payment.ts"
import { endpointOf } from "./Endpoints.ts"
import type { ActFace } from "../PaidAct.ts"

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const decodeObject = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))

/** A JSON Schema without its words: the challenge is a header, and it comes back in the payment. */
const bare = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(bare)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => {
      if (name === "properties" && isObject(value)) {
        return [[name, Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bare(member)]))]]
      }
      return ["description", "examples", "allOf", "title"].includes(name) ? [] : [[name, bare(value)]]
    }),
  )
}

const jsonSchemaOf = (schema: Schema.Top | undefined): Schema.JsonObject =>
  schema === undefined
    ? {}
    : decodeObject(Schema.toJsonSchemaDocument(schema, { referencePolicy: () => undefined }).schema)

const closed = (schema: Schema.JsonObject): Schema.Json => bare({ ...schema, additionalProperties: false })

/** Those parameters of a request that a schema names. */
const chosen = (parameters: Schema.JsonObject, { properties }: Schema.JsonObject) =>
  Object.fromEntries(
    Object.entries(parameters).filter(
      ([name]) => properties !== undefined && isObject(properties) && name in properties,
    ),
  )

interface Call {
  readonly method: string
  readonly path: string
  readonly body: Schema.JsonObject
  readonly pathParams: Schema.JsonObject
  readonly queryParams: Schema.JsonObject
  readonly schema: Schema.JsonObject
}

const read = (route: string): Call | undefined => {
  const endpoint = endpointOf(route)
  if (endpoint === undefined) return undefined
  const [body, pathParams, queryParams] = [
    jsonSchemaOf([...endpoint.payload.values()][0]?.schemas[0]),
    jsonSchemaOf(endpoint.params),
    jsonSchemaOf(endpoint.query),
  ]
  const properties = {
    type: { const: "http" },
    method: { const: endpoint.method },
    bodyType: { const: "json" },
    body: closed(body),
    // The path says what it may hold; a proxy's buffer for a whole response head is 4 KiB.
    ...(endpoint.params === undefined ? {} : { pathParams: { type: "object" } }),
    ...(endpoint.query === undefined ? {} : { queryParams: closed(queryParams) }),
  }
  const required = ["type", "method", "bodyType", "body", ...(endpoint.params === undefined ? [] : ["pathParams"])]
  const output = { type: "object", properties: { type: { const: "json" } }, required: ["type"] }
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

const calls = new Map<string, Call | undefined>()

/** Read once for each route. */
const callOf = (route: string) => {
  if (!calls.has(route)) calls.set(route, read(route))
  return calls.get(route)
}

const exampleOf = ({ examples }: Schema.JsonObject): Schema.Json =>
  Array.isArray(examples) && examples[0] !== undefined ? examples[0] : {}

/**
 * The declaration of an act for one request, whose path and query parameters are given (x402.md §4). Its body is the
 * example of the contract. None when no endpoint sells the act.
 */
export const bazaarOf = ({ route }: ActFace, parameters: Schema.JsonObject): BazaarExtension | undefined => {
  const call = callOf(route)
  if (call === undefined) return undefined
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
