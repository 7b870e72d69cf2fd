/** Words in the public texts of acts: the statement's parts that find them, and the text around them. */
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { rowReader } from "../platform/Rows.ts"
import { literal, part } from "../platform/SqlPart.ts"
import type { HideableFields } from "./ActText.ts"

/** A typed search as a query of PostgreSQL: quoted phrases, and words after a minus left out. */
export const wordsOf = (typed: string) => part`websearch_to_tsquery('simple', ${typed}::text)`

/** The maximum number of matching texts that a search reads of each column, since a word may be in all of them. */
const textsRead = 10_000

/** Characters around matching words; the statement removes them from texts. */
const [opening, closing] = ["\u0002", "\u0003"]

const Said = Schema.Struct({ said: Schema.String, whole: Schema.String, isRevealed: Schema.Boolean })
export const readSaid = rowReader("acts", Said)

/** A part of a public text around its first matching words; `isMatch` tells these from the rest. */
export type Excerpt = ReadonlyArray<{ readonly text: string; readonly isMatch: boolean }>

export const excerptOf = ({ said, whole }: typeof Said.Type): Excerpt => {
  const plain = said.replaceAll(opening, "").replaceAll(closing, "")
  const start = whole.indexOf(plain)
  const parts = said
    .split(opening)
    .flatMap((piece, index) => (index === 0 ? ["", piece] : piece.split(closing)))
    .map((text, index) => ({ text: [...text].slice(0, 200).join(""), isMatch: index % 2 === 0 }))
  const rest = (is: boolean) => ({ text: is ? "…" : "", isMatch: false })
  return [rest(start > 0), ...parts, rest(start >= 0 && start + plain.length < whole.length)].filter(
    ({ text }) => text !== "",
  )
}

/** Selects texts of an act's tables that are shown and match a query, with their acts' ids. */
export const matching = ({ table, texts, words }: HideableFields, query: Statement.Fragment) => {
  const search = (from: string, id: string, column: string, isRevealed: boolean) => {
    const text = literal(column)
    const isShown = isRevealed ? part`NOT hidden` : part`${text} <> ${hiddenByOperator}::text`
    return part`(SELECT ${literal(id)} AS id, ${text} AS whole, ${isRevealed}::boolean AS is_revealed
      FROM ${literal(from)} WHERE to_tsvector('simple', ${text}) @@ ${query} AND ${isShown}
      LIMIT ${textsRead}::int)`
  }
  const columns = Object.values(texts).filter((column) => column !== undefined)
  const own = columns.map((column) => search(table, "id", column, false))
  return words === undefined ? own : [...own, search(words.table, words.id, words.text, true)]
}

/** A text with marks around its first matching words. */
export const headline = (text: Statement.Fragment, query: Statement.Fragment) => {
  const marks = `StartSel=${opening}, StopSel=${closing}, MaxWords=30, MinWords=15, ShortWord=0`
  return part`ts_headline('simple', translate(${text}, ${opening + closing}::text, ''), ${query}, ${marks}::text)`
}
