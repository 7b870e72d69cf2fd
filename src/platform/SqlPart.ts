/** Fragments of statements, written without a client. */
import { Statement } from "effect/sql"

/** A fragment of a statement. Its values are parameters, except fragments. */
export const part = (texts: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement.Fragment =>
  Statement.fragment(
    texts.flatMap((text, index) => {
      const value = values[index]
      const after = Statement.isFragment(value) ? value.segments : [Statement.parameter(value)]
      return [Statement.literal(text), ...(index < values.length ? after : [])]
    }),
  )

/** A time as RFC 3339 UTC with milliseconds, which aggregated JSON would write otherwise. */
export const instantText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
export const instant = (column: string): Statement.Fragment => literal(instantText(column))

/** Constant text of a statement, such as its columns. */
export const literal = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)])
