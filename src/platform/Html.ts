/** HTML templates that escape every value except markup made here. */

/** Markup that is safe in a page. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Value = Html | string | number | bigint | null | undefined | false | ReadonlyArray<Value>

const replacements: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

const escape = (text: string) => text.replace(/[&<>"']/gu, (character) => replacements[character] ?? "")

const isList = (value: Value): value is ReadonlyArray<Value> => Array.isArray(value)

const render = (value: Value): string => {
  if (value instanceof Html) return value.text
  if (isList(value)) return value.map(render).join("")
  return value === null || value === undefined || value === false ? "" : escape(String(value))
}

/** The texts of a template without the indentation of its source, which would be a thirtieth of a page's bytes. */
const flat = new WeakMap<TemplateStringsArray, ReadonlyArray<string>>()

const flatten = (parts: TemplateStringsArray): ReadonlyArray<string> => {
  const flattened = flat.get(parts) ?? parts.map((part) => part.replace(/\n\s+/gu, "\n"))
  flat.set(parts, flattened)
  return flattened
}

/** Every attribute value must be in double quotes. */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  new Html(
    flatten(parts)
      .map((part, index) => part + render(values[index]))
      .join(""),
  )

export const empty = new Html("")
