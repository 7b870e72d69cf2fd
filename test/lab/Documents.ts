/** The documents of the checkout and the examples in them: every fenced block, with where it stands. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = new URL("../..", import.meta.url).pathname

/** All but the changelog, which shows nothing to run. */
export const documents: ReadonlyArray<string> = [
  ...readdirSync(root).filter((file) => file !== "CHANGELOG.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) => join("docs", file)),
].filter((file) => file.endsWith(".md"))

export interface Example {
  readonly file: string
  /** Its language and its first line; no two examples of a file begin alike. */
  readonly begins: string
  readonly language: string
  readonly text: string
}

export const examplesOf = (file: string): ReadonlyArray<Example> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gmu)].map(
    ([, indent = "", language = "", indented = ""]) => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
      return { file, language, text, begins: text.split("\n")[0]?.trimEnd() ?? "" }
    },
  )

/** The example of a document that begins so. */
export const exampleOf = (file: string, begins: string) => {
  const found = examplesOf(file).find((one) => one.begins.startsWith(begins))
  if (found === undefined) throw new Error(`${file} has no example that begins with ${begins}`)
  return found.text
}
