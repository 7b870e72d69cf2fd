/** Where an act is bought: its path with parameters filled in, as a payment has to name it. */
import { Schema } from "effect"

type Texts = Readonly<Record<string, string>>

/** Parameters of a paid endpoint are texts: a decoded one is what stands in the URL. */
const textsOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))

/** Of a call: its path below the public URL, its query in the order of the contract, and its parameters. */
export const addressOf = (path: string, call: { readonly params?: unknown; readonly query?: unknown }) => {
  const [named, searched] = [textsOf(call.params ?? {}), textsOf(call.query ?? {})]
  return { path: filled(path, named, searched), parameters: { ...named, ...searched } }
}

/** A path template of the contract with the given parameters and query; every path that is shown is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
