/** Parts of statements, written without a client: the statement that they are set into brings it. */
import { Statement } from "effect/sql"

/** A part of a statement; a value in it is a parameter, unless it is a part itself. */
export const part = (texts: TemplateStringsArray, ...values: ReadonlyArray<unknown>): Statement.Fragment =>
  Statement.fragment(
    texts.flatMap((text, index) => {
      const value = values[index]
      const after = Statement.isFragment(value) ? value.segments : [Statement.parameter(value)]
      return [Statement.literal(text), ...(index < values.length ? after : [])]
    }),
  )

/** Text of a statement that is known when it is written, such as its columns. */
export const literal = (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)])
