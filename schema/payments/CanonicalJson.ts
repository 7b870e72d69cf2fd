/** RFC 8785: equal JSON values have equal canonical texts, so a fingerprint does not depend on spelling. */
import type { Schema } from "effect"

/** Members sorted by UTF-16 code units, no white space, ECMAScript numbers and strings. */
export const canonicalJson = (value: Schema.Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`
}
