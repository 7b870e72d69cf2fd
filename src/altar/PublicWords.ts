/** Finds shown texts of acts that contain given words. */
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { literal, part } from "../platform/SqlPart.ts"
import type { HideableFields } from "./ActText.ts"

/** Selects the ids of an act's tables whose shown texts contain `words` in any spelling; `is_revealed` tells revealed words. */
export const containing = ({ table, texts, words }: HideableFields, asked: string) => {
  const search = (from: string, id: string, column: string, isRevealed: boolean) => {
    const text = literal(column)
    const isShown = isRevealed ? part`NOT hidden` : part`${text} <> ${hiddenByOperator}::text`
    return part`SELECT ${literal(id)} AS id, ${isRevealed}::boolean AS is_revealed FROM ${literal(from)}
      WHERE strpos(lower(${text}), lower(${asked}::text)) > 0 AND ${isShown}`
  }
  const own = Object.values(texts).flatMap((column) =>
    column === undefined ? [] : [search(table, "id", column, false)],
  )
  return words === undefined ? own : [...own, search(words.table, words.id, words.text, true)]
}
