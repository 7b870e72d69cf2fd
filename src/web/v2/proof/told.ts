/** Shows the parts of a check: one headline, green only where every part holds, and a line for each part. */
import type { ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { make, type Verdict, verdict } from "../page/dom.ts"

export interface Line {
  readonly kind: Exclude<Verdict, "waits">
  readonly word: string
  readonly says: string
}

const kinds = { holds: "holds", broken: "broken", open: "unchecked" } as const
const words = { holds: "holds", broken: "broken", open: "not checked" } as const

/** The line of a check of the library. */
export const lineOf = ({ name, says, state }: ReceiptCheck): Line => ({
  kind: kinds[state],
  word: `${name[0]?.toUpperCase() ?? ""}${name.slice(1)}: ${words[state]}.`,
  says,
})

/** Lines shown; a broken chain may have thousands of faults. */
const most = 20

const headline = (what: string, lines: ReadonlyArray<Line>) => {
  const count = (kind: Verdict) => lines.filter((line) => line.kind === kind).length
  const [bad, open] = [count("broken"), count("unchecked")]
  if (bad > 0) return verdict("broken", `${what} does not hold.`, `${bad} of ${lines.length} parts are broken.`)
  return open > 0
    ? verdict(
        "unchecked",
        `Nothing is broken, and ${open} of ${lines.length} parts ${open === 1 ? "was" : "were"} not checked.`,
      )
    : verdict("holds", `${what} holds.`)
}

export const tell = (status: HTMLElement, list: HTMLElement, what: string, lines: ReadonlyArray<Line>) => {
  status.replaceChildren(headline(what, lines))
  list.replaceChildren(...lines.slice(0, most).map(({ kind, says, word }) => make("li", {}, verdict(kind, word, says))))
}
