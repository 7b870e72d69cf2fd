/** Documents name what there is. */
import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, it } from "@effect/vitest"
import { assertNone } from "../lab/Assertions.ts"
import { documents, filesIn, jsonOf, root, textOf } from "../lab/Sources.ts"

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = jsonOf("package.json")

const linksOf = (text: string) => [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/gu)].map(([, target = ""]) => target)

const pathsOf = (text: string) =>
  [...text.matchAll(/`((?:src|schema|test|migrations|docs|nix|\.ci)\/[\w./-]*)`/gu)].map(([, path = ""]) => path)

describe("documentation:", () => {
  it.each(documents)("%s names only existing files and scripts", (file) => {
    const text = textOf(file)
    const named = [
      ...linksOf(text).map((target) => relative(root, join(root, dirname(file), target))),
      ...pathsOf(text),
    ]
    assertNone(named, (path) => !existsSync(join(root, path)))
    const called = [...text.matchAll(/\bnpm run ([\w:]+)/gu)].map(([, name = ""]) => name)
    assertNone(called, (name) => scripts[name] === undefined)
  })

  it("documents exist where a comment names them", () => {
    const named = filesIn(["schema", "src", "migrations", "test"]).flatMap((file) =>
      [...textOf(file).matchAll(/\bdocs\/[\w./-]+\.md\b/gu)].map(([path]) => ({ file, path })),
    )
    assertNone(named, ({ path }) => !existsSync(join(root, path)))
  })
})
