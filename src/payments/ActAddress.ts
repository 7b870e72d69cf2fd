/** Where an act is bought: its path with parameters filled in, as a payment has to name it. */
import { Effect, Schema } from "effect"
import type { PaidEndpoint } from "../../schema/payments/Sale.ts"

type Texts = Readonly<Record<string, string>>

const textsOf = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.String))

/** No schema of the contract asks for a service, which the type of an endpoint's schemas no longer says. */
const isPlain = (schema: Schema.Top): schema is Schema.Top & Schema.Encoder<unknown> => schema !== undefined

const none: Effect.Effect<Texts> = Effect.succeed({})

/** Writes decoded parameters as the texts that stand in the URL. */
const writer = (schema: Schema.Top | undefined) => {
  if (schema === undefined || !isPlain(schema)) return () => none
  const encode = Schema.encodeUnknownEffect(schema)
  return (decoded: unknown) => Effect.flatMap(encode(decoded), textsOf)
}

interface Address {
  /** Below the public URL, with its query. */
  readonly path: string
  readonly parameters: Texts
}

/** Of an endpoint's calls: the path below the public URL, its query in the order of the contract, and its parameters. */
export const addresses = ({ params, path, query }: PaidEndpoint) => {
  const [inPath, inQuery] = [writer(params), writer(query)]
  const only = Effect.succeed<Address>({ path: filled(path), parameters: {} })
  if (params === undefined && query === undefined) return () => only
  return Effect.fnUntraced(function* (call: { readonly params?: unknown; readonly query?: unknown }) {
    const [named, searched] = [yield* inPath(call.params), yield* inQuery(call.query)]
    const parameters: Texts = { ...named, ...searched }
    return { path: filled(path, named, searched), parameters } satisfies Address
  })
}

/** A path template of the contract with the given parameters and query; every path that is shown is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
