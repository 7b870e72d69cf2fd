/** JSON Schema in words for readers. */
import { type Form, type Forms, resolved } from "../../../schema/Form.ts"

const alternatives = ({ anyOf, oneOf }: Form) => anyOf ?? oneOf ?? []

const range = (least = 0, most: number | undefined, unit = "") => {
  if (most === undefined || most > 1e15) return least === 0 ? "" : `, at least ${least}${unit}`
  if (least === 0) return `, at most ${most}${unit}`
  return least === most ? `, ${most}${unit}` : `, ${least} to ${most}${unit}`
}

/** Omits a pattern that every text matches. */
const matching = ({ pattern }: Form) =>
  pattern === undefined || pattern === "^[\\s\\S]*$" ? "" : `, matching \`${pattern}\``

/** The type of a value in a few words. */
const wordsFor = (forms: Forms, given: Form): string => {
  const form = resolved(forms, given)
  if (form.const !== undefined) return JSON.stringify(form.const)
  if (form.enum !== undefined) return form.enum.map((value) => JSON.stringify(value)).join(" or ")
  const others = alternatives(form)
  if (others.length > 0) return [...new Set(others.map((other) => wordsFor(forms, other)))].join(", or ")
  switch (form.type) {
    case "string":
      return `text${range(form.minLength, form.maxLength, " characters")}${matching(form)}`
    case "integer":
    case "number":
      return `${form.type === "integer" ? "whole number" : "number"}${range(form.minimum, form.maximum)}`
    case "boolean":
      return "true or false"
    case "array":
      return `list${range(form.minItems, form.maxItems, " items")}: ${wordsFor(forms, form.items ?? {})}`
    default:
      return form.type ?? "any JSON"
  }
}

/** The object that a form is, or holds in a list or beside null. */
const objectIn = (forms: Forms, given: Form): Form | undefined => {
  const form = resolved(forms, given)
  if (form.properties !== undefined) return form
  if (form.items !== undefined) return objectIn(forms, form.items)
  const objects = alternatives(form).flatMap((other) => objectIn(forms, other) ?? [])
  return objects.length === 1 ? objects[0] : undefined
}

/** A named member; a remark beside it takes precedence over its form's description. */
export const memberOf = (forms: Forms, path: string, form: Form, isRequired: boolean, remark?: string) => ({
  /** The name after those of the enclosing objects: `receipt.transaction`. */
  path,
  words: wordsFor(forms, form),
  description: remark ?? resolved(forms, form).description ?? "",
  isRequired,
})

export type Member = ReturnType<typeof memberOf>

/** The members of an object, each followed by those of its own object; examples show more than three levels. */
export const membersOf = (forms: Forms, given: Form, prefix = "", depth = 1): ReadonlyArray<Member> => {
  const { properties = {}, required = [] } = objectIn(forms, given) ?? {}
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const row = memberOf(forms, path, member, required.includes(name))
    return depth === 3 ? [row] : [row, ...membersOf(forms, member, `${path}.`, depth + 1)]
  })
}

interface Code {
  /** The altar's `code`, or the `error.code` of a room. */
  readonly code: string
  readonly meaning: string
  readonly form: Form
}

export const codesOf = (forms: Forms, form: Form): ReadonlyArray<Code> => {
  const whole = resolved(forms, form)
  const others = alternatives(whole)
  if (others.length > 0) return others.flatMap((other) => codesOf(forms, other))
  const meaning = whole.description ?? ""
  const { code, error } = whole.properties ?? {}
  if (error !== undefined) return codesOf(forms, error).map((entry) => ({ ...entry, meaning, form: whole }))
  const values = code === undefined ? [] : (resolved(forms, code).enum ?? [])
  return values.map((value) => ({ code: String(value), meaning, form: whole }))
}
