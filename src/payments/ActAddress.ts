/** Where an act is bought: its path with parameters filled in, as a payment has to name it. */
import { Effect, Schema } from "effect"
import type { PaidEndpoint } from "../../schema/payments/Sale.ts"

const textsOf = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.String))

/** No schema of the contract asks for a service, which the type of an endpoint's schemas no longer says. */
const isPlain = (schema: Schema.Top): schema is Schema.Top & Schema.Encoder<unknown> => schema !== undefined

/** Decoded parameters as the texts that stand in the URL. */
const written = (schema: Schema.Top | undefined, decoded: unknown) =>
  schema === undefined || !isPlain(schema)
    ? Effect.succeed({})
    : Effect.flatMap(Schema.encodeUnknownEffect(schema)(decoded), textsOf)

/** The path of a call below the public URL, its query in the order of the contract, and its parameters. */
export const addressOf = Effect.fnUntraced(function* (
  { params, path, query }: PaidEndpoint,
  call: { readonly params?: unknown; readonly query?: unknown },
) {
  const inPath = yield* written(params, call.params)
  const inQuery = yield* written(query, call.query)
  const parameters: Readonly<Record<string, string>> = { ...inPath, ...inQuery }
  return { path: filled(path, inPath, inQuery), parameters }
})

type Texts = Readonly<Record<string, string>>

/** A path template of the contract with the given parameters and query; every path that is shown is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
