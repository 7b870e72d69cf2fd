/** The public view of an act while an operator hides members of it. */
import { Schema } from "effect"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { literal } from "../platform/SqlPart.ts"

/** The hidden members of a row: texts of its record, `agentName` and `words`. */
export const hiddenColumn = Schema.Array(Schema.String)

type Hidden = typeof hiddenColumn.Type

/** A column of `row`, or the placeholder while `member` is hidden in `owner`. */
export const shownColumn = (row: string, column: string, member: string, owner = row) =>
  literal(`CASE WHEN ${row}.${column} IS NOT NULL AND '${member}' = ANY(${owner}.hidden)
    THEN '${hiddenByOperator}' ELSE ${row}.${column} END`)

/** Whether and by what the words in `row` of the act `owner` are hidden, as `revealColumns` read it. */
export const wordsHidden = (row: string, owner: string) =>
  literal(`${row}.hidden OR 'words' = ANY(${owner}.hidden) AS reveal_hidden,
    CASE WHEN 'words' = ANY(${owner}.hidden) THEN 'operator' END AS reveal_hidden_by`)

export const shownName = (name: string | null, hidden: Hidden) =>
  name !== null && hidden.includes("agentName") ? hiddenByOperator : name

/** Whether the record and the receipt are shown as they were answered. */
export const isAsAnswered = (hidden: Hidden) => hidden.every((member) => member === "words")

/** The JSON text of a record, whose bytes stay while nothing of it is hidden. */
export const shownRecord = (record: string, hidden: Hidden): string =>
  isAsAnswered(hidden)
    ? record
    : JSON.stringify(JSON.parse(record), (member, value) =>
        typeof value === "string" && hidden.includes(member) ? hiddenByOperator : value,
      )

/** The receipt beside what is shown. The hash of the body would confirm guesses of a hidden text. */
export const shownReceipt = (receipt: Schema.JsonObject, hidden: Hidden): Schema.JsonObject => {
  const { binding } = receipt
  return isAsAnswered(hidden) || typeof binding !== "object" || binding === null
    ? receipt
    : { ...receipt, binding: { ...binding, bodySha256: null } }
}
