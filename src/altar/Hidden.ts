/** The public view of an act while an operator hides members of it. */
import { Schema } from "effect"
import { hiddenByOperator } from "../../schema/altar/Hidden.ts"
import { instantText, literal } from "../platform/Sql.ts"
import { jsonIn } from "../../schema/Json.ts"

/** The hidden members of a row: texts of its record, `agentName` and `words`. */
export const hiddenColumn = Schema.Array(Schema.String)

type Hidden = typeof hiddenColumn.Type

const shownText = (row: string, column: string, member: string, owner = row) =>
  `CASE WHEN ${row}.${column} IS NOT NULL AND '${member}' = ANY(${owner}.hidden) THEN '${hiddenByOperator}'
    ELSE ${row}.${column} END`

/** SQL for a column of `row`, or the placeholder while `member` is hidden in `owner`. */
export const shownColumn = (...parameters: Parameters<typeof shownText>) => literal(shownText(...parameters))

/** SQL for the members of a reveal `r` of the act in `owner`, as `revealColumns` read them. */
const revealMembers = (owner: string) =>
  Object.entries({
    revealText: "r.text",
    revealSalt: "r.salt",
    revealHidden: `r.hidden OR 'words' = ANY(${owner}.hidden)`,
    revealHiddenBy: `CASE WHEN 'words' = ANY(${owner}.hidden) THEN 'operator' END`,
    revealAgentName: shownText("r", "agent_name", "agentName", owner),
    revealedAt: instantText("r.revealed_at"),
  })

/** SQL columns of the reveal `r` of the act in `owner`, under the names of `revealColumns`. */
export const revealed = (owner: string) =>
  literal(
    revealMembers(owner)
      .map(([member, value]) => `${value} AS "${member}"`)
      .join(", "),
  )

/** The same columns as members of a JSON object. */
export const revealedJson = (owner: string) =>
  literal(
    revealMembers(owner)
      .map(([member, value]) => `'${member}', ${value}`)
      .join(", "),
  )

/** The hidden members of an act as it was bought. A reveal may have a name that the act has not. */
export const hiddenOfAct = ({ agentName, hidden }: { readonly agentName: string | null; readonly hidden: Hidden }) =>
  agentName === null ? hidden.filter((member) => member !== "agentName") : hidden

export const shownName = (name: string | null, hidden: Hidden) =>
  name !== null && hidden.includes("agentName") ? hiddenByOperator : name

/** Whether the record and the receipt are shown as they were answered. */
export const isAsAnswered = (hidden: Hidden) => hidden.every((member) => member === "words")

/** The JSON text of a record, whose bytes stay while nothing of it is hidden. */
export const shownRecord = (record: string, hidden: Hidden): string =>
  isAsAnswered(hidden)
    ? record
    : JSON.stringify(jsonIn(record), (member, value) =>
        typeof value === "string" && hidden.includes(member) ? hiddenByOperator : value,
      )

/**
 * The receipt beside what is shown. Its binding would confirm guesses of a hidden text: the nonce on the chain hashes
 * the body.
 */
export const shownReceipt = (receipt: Schema.JsonObject, hidden: Hidden): Schema.JsonObject =>
  isAsAnswered(hidden) ? receipt : { ...receipt, binding: null }
