/** The input of a paid act: path, query and body of its endpoint as one object. */
import { Effect, Result, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { BadRequest } from "../../schema/Errors.ts"
import type { PaidEndpoint } from "../../schema/payments/Sale.ts"
import { issuesOf } from "../platform/Issues.ts"

type Part<S> = [S] extends [never] ? unknown : S extends Schema.Constraint ? S["Type"] : never

export type InputOf<Endpoint extends PaidEndpoint> = Part<HttpApiEndpoint.Params<Endpoint>> &
  Part<HttpApiEndpoint.Query<Endpoint>> &
  Part<HttpApiEndpoint.Payload<Endpoint>>

export const bodyOf = (endpoint: PaidEndpoint): Schema.Top | undefined => [...endpoint.payload.values()][0]?.schemas[0]

export const namesOf = (schema: Schema.Top | undefined): ReadonlyArray<string> => {
  const ast = schema?.ast
  return ast?._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

const strict = { onExcessProperty: "error", errors: "all" } as const

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The type of an endpoint's schemas allows services. No schema of the contract needs one. */
const isPlain = (schema: Schema.Top | undefined): schema is Schema.Top & Schema.Decoder<unknown> => schema !== undefined

const whole = (json: Schema.JsonObject) => json

const membersOf = (names: ReadonlySet<string>, areThese: boolean) => (json: Schema.JsonObject) =>
  Object.fromEntries(Object.entries(json).filter(([name]) => names.has(name) === areThese))

/** Reads the input of an endpoint from JSON and reports every issue. The body's schema rejects unknown members. */
export const inputOf = <Endpoint extends PaidEndpoint>(endpoint: Endpoint) => {
  const parameters = [endpoint.params, endpoint.query].filter(isPlain)
  const body = [bodyOf(endpoint) ?? Schema.Struct({})].filter(isPlain)
  const outside = new Set(parameters.flatMap(namesOf))
  const parts = [
    ...parameters.map((schema) => ({ schema, pick: membersOf(new Set(namesOf(schema)), true) })),
    // Without parameters the body schema reads the input unchanged.
    ...body.map((schema) => ({ schema, pick: outside.size === 0 ? whole : membersOf(outside, false) })),
  ].map(({ pick, schema }) => ({ pick, decode: Schema.decodeUnknownResult(schema, strict) }))
  return Effect.fnUntraced(function* (json: Schema.Json): Effect.fn.Return<InputOf<Endpoint>, BadRequest> {
    const members = isObject(json) ? json : {}
    const read = parts.map(({ decode, pick }) => decode(pick(members)))
    const issues = read.flatMap((part) => (Result.isFailure(part) ? issuesOf(part.failure) : []))
    if (issues.length > 0) return yield* new BadRequest({ issues: issues.slice(0, 20) })
    // An endpoint does not keep the types of its schemas. Its parts add up to the input type.
    return Object.assign({}, ...read.map(Result.getOrThrow))
  })
}
