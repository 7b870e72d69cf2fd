/** The operator's guide as the tests read it: its blocks, and the statements in them. */
import { readFileSync } from "node:fs"

const guide = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8")

/** The blocks of a language below a heading, up to the next one. */
export const blocksOf = (heading: string, language: string): ReadonlyArray<string> => {
  const section = guide.split(/^#+ /mu).find((text) => text.startsWith(`${heading}\n`)) ?? ""
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  )
}

export const statementsOf = (block: string): ReadonlyArray<string> =>
  block
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")
