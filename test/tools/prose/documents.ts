/** Checks the documents as `prose/plain` checks the code: `node test/tools/prose/documents.ts [FILE …]`. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { faultsOf } from "./Sentences.ts"

/** History is not rewritten, and answers of tools are quoted as they are. */
const isLeft = (file: string) => file === "CHANGELOG.md"

/** Paragraphs with the line each begins at: no code blocks, generated parts, headings' marks or table rules. */
const passagesOf = (markdown: string) => {
  const blank = (part: string) => part.replaceAll(/[^\n]/gu, "")
  const lines = markdown
    .replaceAll(/^```.*?^```$/gmsu, blank)
    .replaceAll(/<!--.*?-->/gsu, blank)
    .split("\n")
  const passages: Array<{ line: number; text: string }> = []
  let isOpen = false
  for (const [index, line] of lines.entries()) {
    const cells = line.startsWith("|") ? line.split("|") : [line]
    const begins = /^\s*(?:[-*+]|\d+\.|#+|>)\s/u.test(line) || line.startsWith("|")
    for (const cell of cells) {
      const text = cell.replace(/^\s*(?:[-*+]|\d+\.|#+|>)\s+/u, "").trim()
      if (text === "" || /^:?-+:?$/u.test(text)) continue
      const last = passages.at(-1)
      if (isOpen && !begins && last !== undefined) last.text += ` ${text}`
      else passages.push({ line: index + 1, text })
    }
    isOpen = line.trim() !== "" && !line.startsWith("|") && !line.startsWith("#")
  }
  return passages
}

const named = process.argv.slice(2)
const files =
  named.length > 0 ? named : execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).trim().split("\n")
let count = 0
for (const file of files.filter((one) => !isLeft(one))) {
  for (const { line, text } of passagesOf(readFileSync(file, "utf8"))) {
    // A heading and a cell of a table may be a noun clause.
    const isWhole = /[.:;!?][)*"”]*$/u.test(text)
    for (const { message, sentence } of faultsOf(text).filter((fault) => isWhole || !fault.isClause)) {
      count += 1
      console.log(`${file}:${line}: ${message}: ${sentence.slice(0, 160)}`)
    }
  }
}
console.log(`${count} faults of prose in ${files.length} documents`)
process.exitCode = count === 0 ? 0 : 1
