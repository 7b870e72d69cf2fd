/** A filled form as an order: its terms, its body, and its words sealed. It needs no page. */
import { normalizedLength, wordsMaximum } from "../../../../schema/altar/Recipe.ts"
import { commitmentOf, unsealable } from "../../../buyer/core/Commitment.ts"
import { parsed } from "../../../buyer/core/Json.ts"
import type { Keepsake } from "../words/box.ts"
import type { Listed } from "./purchase.ts"

/** The part of the request that a field fills; sealed words fill the body with their commitment. */
export type Part = "place" | "query" | "body" | "json" | "seal"

export interface Entry {
  readonly part: Part
  /** The member, or the placeholder in the path. */
  readonly name: string
  readonly text: string
  readonly isRequired: boolean
}

/** The terms that stand beside the form, where it has them. */
export type Terms = { readonly [Name in keyof Listed]?: Listed[Name] | undefined }

export interface Problem {
  readonly at: Entry
  readonly says: string
}

export interface Order {
  readonly listed: Listed
  readonly body: string
  readonly keepsake: Keepsake | null
}

const isBlank = ({ text }: Entry) => text.trim() === ""

/** The terms of the form as it is filled. */
export const listedOf = (terms: Terms, entries: ReadonlyArray<Entry>): Listed => {
  const { amount = "", network = "", path = "", recorded = "", title = "" } = terms
  const filled = (wanted: Part) => entries.filter((entry) => entry.part === wanted && !isBlank(entry))
  // A choice in the form completes the path.
  const place = filled("place").reduce((whole, { name, text }) => whole.replace(name, encodeURIComponent(text)), path)
  const query = new URLSearchParams(filled("query").map(({ name, text }) => [name, text])).toString()
  return { path: query === "" ? place : `${place}?${query}`, amount, network, title, recorded }
}

/** The commitment of the stone that the entries would set; undefined while they are blank. */
export const commitmentIn = async (entries: ReadonlyArray<Entry>, salt: string): Promise<string | undefined> => {
  const entry = entries.find((filled) => (filled.part === "seal" || filled.name === "commitment") && !isBlank(filled))
  return entry?.part === "seal" ? commitmentOf(salt, entry.text) : entry?.text
}

/** The order, or the first field that cannot be sent as it is. Its words are sealed with the salt. */
export const orderOf = async (terms: Terms, entries: ReadonlyArray<Entry>, salt: string): Promise<Order | Problem> => {
  const missing = entries.find((entry) => entry.isRequired && isBlank(entry))
  if (missing !== undefined) return { at: missing, says: "Write something first." }
  const body: Record<string, unknown> = {}
  let keepsake: Keepsake | null = null
  for (const entry of entries) {
    const { name, part, text } = entry
    if (isBlank(entry)) continue
    if (part === "body") body[name] = text.trim()
    if (part === "json") body[name] = parsed(text)
    if (part !== "seal") continue
    const problem = unsealable(salt, text)
    if (problem !== undefined) return { at: entry, says: problem }
    keepsake = { salt, words: text, commitment: await commitmentOf(salt, text) }
    body[name] = keepsake.commitment
  }
  const isEmpty = Object.keys(body).length === 0
  return { listed: listedOf(terms, entries), body: isEmpty ? "" : JSON.stringify(body), keepsake }
}

/** How many characters may still be sealed, when few are left. */
export const leftOf = (words: string): string => {
  const left = wordsMaximum - normalizedLength(words)
  return left > 40 ? "" : left < 0 ? ` ${-left} too many.` : ` ${left} left.`
}
