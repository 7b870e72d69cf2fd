/** JSON with its type: `JSON.parse` alone answers `any`, which any annotation would accept. */
import { Predicate, type Schema } from "effect"

/** Throws a `SyntaxError` for a text that is not JSON. */
export const jsonIn = (
  text: string,
  reviver?: (this: unknown, name: string, value: Schema.Json) => Schema.Json | undefined,
): Schema.Json => JSON.parse(text, reviver)

/** Returns a value as it is sent: members that are undefined leave. */
export const jsonOf = (value: object): Schema.Json => jsonIn(JSON.stringify(value))

export const isJsonObject = (json: Schema.Json): json is Schema.JsonObject => Predicate.isObject(json)
