/** The URL of an act, as its payment signs it. */
import { Schema } from "effect"

type Texts = Readonly<Record<string, string>>

/** Path and query parameters are texts: a decoded value is the text of the URL. */
const textsOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))

/** The path below the public URL, with query parameters in the order of the contract, and all parameters. */
export const addressOf = (path: string, call: { readonly params?: unknown; readonly query?: unknown }) => {
  const [named, searched] = [textsOf(call.params ?? {}), textsOf(call.query ?? {})]
  return { path: filled(path, named, searched), parameters: { ...named, ...searched } }
}

/** Fills a path template of the contract. Every path shown to clients is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
