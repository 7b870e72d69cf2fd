/** JSON of a stranger: its members are asked for one by one. */
import { Unproven } from "./Verdict.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | Members

export interface Members {
  readonly [name: string]: Json
}

export const malformed = (what: string) => new Unproven("malformed", what)

export const jsonIn = (text: string, what: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(`${what} is not JSON.`)
  }
}

/** The value that is made; undefined when making it throws. */
export const attempt = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** A text as JSON; undefined when it is none. */
export const parsed = (text: string | null): unknown => attempt(() => (text === null ? undefined : JSON.parse(text)))

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value below these names; undefined where there is none. */
export const memberAt = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce((whole, name) => (isMembers(whole) ? whole[name] : undefined), value)

/** Any object. */
export const anyMembers = (value: unknown, what: string): Members => {
  if (!isMembers(value)) throw malformed(`${what} is no JSON object.`)
  return value
}

/** An object with exactly these members; a name that ends in a question mark may be absent. */
export const membersOf = (value: unknown, what: string, names: ReadonlyArray<string>): Members => {
  const members = anyMembers(value, what)
  const allowed = new Set(names.map((name) => name.replace("?", "")))
  const missing = names.find((name) => !name.endsWith("?") && !(name in members))
  const unknown = Object.keys(members).find((name) => !allowed.has(name))
  if (missing !== undefined) throw malformed(`${what} lacks ${missing}.`)
  if (unknown !== undefined) throw malformed(`${what} has a member that no version knows: ${unknown}.`)
  return members
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
