/** Deliberate faults, each one edit of a source, and the tests most likely to notice it, as `faults.txt` lists them. */
import { readFileSync } from "node:fs"

export interface Mutant {
  /** The missing or wrong behaviour. */
  readonly fault: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly from: string
  readonly to: string
  /** Tests that are run until one fails; the cheapest first. */
  readonly tests: ReadonlyArray<string>
}

const list = readFileSync(new URL("faults.txt", import.meta.url), "utf8")

/** A paragraph names the fault, its file, the text before and after, and its tests; a line with # is a heading. */
const mutantOf = (paragraph: string): Mutant => {
  const [fault = "", ...lines] = paragraph.split("\n")
  const after = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length))
  const [file = "", ...tests] = after("  ")
  return {
    fault,
    file,
    from: after("- ").join("\n"),
    to: after("+ ").join("\n"),
    tests,
  }
}

export const mutants: ReadonlyArray<Mutant> = list
  .trim()
  .split(/\n{2,}/u)
  .filter((paragraph) => !paragraph.startsWith("#"))
  .map(mutantOf)
