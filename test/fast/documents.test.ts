/** Documents name what is there: every link inside the repository, and every file or folder in code marks. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { documents } from "../lab/Documents.ts"

const root = new URL("../..", import.meta.url).pathname

/** Comments name documents, too. */
const sources = ["schema", "src", "migrations", "test"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))

const linksOf = (text: string) => [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/gu)].map(([, target = ""]) => target)

/** Of `src/payments/ledger/Attempt.ts` and the like; what has a blank or a hole in it is no path. */
const pathsOf = (text: string) =>
  [...text.matchAll(/`((?:src|schema|test|migrations|docs|nix|\.ci)\/[\w./-]*)`/gu)].map(([, path = ""]) => path)

describe("documents", () => {
  it.each(documents)("%s names nothing that is missing", (file) => {
    const text = readFileSync(join(root, file), "utf8")
    const named = [
      ...linksOf(text).map((target) => relative(root, join(root, dirname(file), target))),
      ...pathsOf(text),
    ]
    assert.deepStrictEqual(
      named.filter((path) => !existsSync(join(root, path))),
      [],
    )
  })

  it("are there where a comment names them", () => {
    const named = sources.flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8")
      return [...text.matchAll(/\bdocs\/[\w./-]+\.md\b/gu)].map(([path]) => ({ file, path }))
    })
    assert.deepStrictEqual(
      named.filter(({ path }) => !existsSync(join(root, path))),
      [],
    )
  })

  it("name every script of the package", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8")
    assert.deepStrictEqual(
      // npm runs `prepack` by itself, which names the script to run.
      Object.keys(scripts).filter(
        (name) => name !== "prepack" && !new RegExp("`(?:npm (?:run )?)?" + name + "\\b", "u").test(text),
      ),
      [],
    )
  })
})
