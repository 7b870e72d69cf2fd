/** JSON of a stranger: its members are asked for one by one, and more than these are refused. */
import type { Schema } from "effect"
import { Unproven } from "../core/Verdict.ts"

export type Members = Schema.JsonObject

export const malformed = (what: string) => new Unproven("malformed", what)

export const jsonIn = (text: string, what: string): Schema.Json => {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(`${what} is not JSON.`)
  }
}

const isMembers = (value: Schema.Json | undefined): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An object with exactly these members; a name that ends in a question mark may be absent. */
export const membersOf = (value: Schema.Json | undefined, what: string, names: ReadonlyArray<string>): Members => {
  if (!isMembers(value)) throw malformed(`${what} is no JSON object.`)
  const known = new Set(names.map((name) => name.replace("?", "")))
  const missing = names.find((name) => !name.endsWith("?") && !(name in value))
  const unknown = Object.keys(value).find((name) => !known.has(name))
  if (missing !== undefined) throw malformed(`${what} lacks ${missing}.`)
  if (unknown !== undefined) throw malformed(`${what} has a member that no version knows: ${unknown}.`)
  return value
}

/** Any object. */
export const anyMembers = (value: Schema.Json | undefined, what: string): Members => {
  if (!isMembers(value)) throw malformed(`${what} is no JSON object.`)
  return value
}

export const textAt = (members: Members, name: string, pattern = /^[^]*$/u): string => {
  const value = members[name]
  if (typeof value === "string" && pattern.test(value)) return value
  throw malformed(`${name} does not have its form.`)
}

export const wholeAt = (members: Members, name: string): number => {
  const value = members[name]
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value
  throw malformed(`${name} is no whole number.`)
}
