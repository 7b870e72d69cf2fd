/** Documents name what there is, and the commands in their examples exist with their options. */
import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Effect } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { printed } from "../lab/CommandRun.ts"
import { assertNone } from "../lab/Assertions.ts"
import { documents, examplesOf, filesIn, jsonOf, root, textOf } from "../lab/Sources.ts"

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = jsonOf("package.json")

const linksOf = (text: string) => [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/gu)].map(([, target = ""]) => target)

const pathsOf = (text: string) =>
  [...text.matchAll(/`((?:src|schema|test|migrations|docs|nix|\.ci)\/[\w./-]*)`/gu)].map(([, path = ""]) => path)

describe("documentation:", () => {
  it.each(documents)("%s names only existing files, scripts and variables", (file) => {
    const text = textOf(file)
    const named = [
      ...linksOf(text).map((target) => relative(root, join(root, dirname(file), target))),
      ...pathsOf(text),
    ]
    assertNone(named, (path) => !existsSync(join(root, path)))
  })

  it("documents exist where a comment names them", () => {
    const named = filesIn(["schema", "src", "migrations", "test"]).flatMap((file) =>
      [...textOf(file).matchAll(/\bdocs\/[\w./-]+\.md\b/gu)].map(([path]) => ({ file, path })),
    )
    assertNone(named, ({ path }) => !existsSync(join(root, path)))
  })
})

const commandsOf = (text: string) =>
  text
    .replaceAll(/\\\n/gu, " ")
    .split("\n")
    .flatMap((line) => line.replace(/(?:^|\s)#.*$/u, "").split(/&&|\||;/u))
    .map((part) =>
      part
        .replaceAll(/'[^']*'|"[^"]*"/gu, "x")
        .trim()
        .split(/\s+/u),
    )

const ours = ([first = "", ...rest]: ReadonlyArray<string>): {
  readonly script?: string
  readonly args?: ReadonlyArray<string>
} => {
  if (/^[A-Z_]+=/u.test(first)) return ours(rest)
  if (/(?:^|\/)spirit-altar$/u.test(first)) return { args: rest }
  if (first === "node") {
    const at = rest.findIndex((word) => word.endsWith("/spirit-altar"))
    return at === -1 ? {} : { args: rest.slice(at + 1) }
  }
  if (first !== "npm") return {}
  const [verb = "", ...more] = rest
  const script = verb === "run" ? more[0] : ["start", "test"].includes(verb) ? verb : undefined
  if (script === undefined) return {}
  const args = rest.slice(rest.indexOf("--") === -1 ? rest.length : rest.indexOf("--") + 1)
  const command = /^(?:exec )?node (?:--\S+ )*src\/start\.js ?(\w*)$/u.exec(scripts[script] ?? "")?.[1]
  return command === undefined ? { script } : { script, args: [...(command === "" ? [] : [command]), ...args] }
}

const groups = new Set(["log", "admin"])

const pathOf = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...rest] = args
  return groups.has(first) ? [first, ...pathOf(rest)] : [first]
}

describe("a command in an example", () => {
  const shown = documents
    .flatMap(examplesOf)
    .filter(({ language }) => ["sh", "bash"].includes(language))
    .flatMap(({ file, text }) => commandsOf(text).map((words) => ({ file, line: words.join(" "), ...ours(words) })))

  it("of the package's scripts names an existing one", () => {
    const named = shown.flatMap(({ script }) => script ?? [])
    assert.isAbove(named.length, 20)
    assertNone(named, (name) => scripts[name] === undefined)
  })

  it.effect("of ours has valid options", () =>
    Effect.gen(function* () {
      const typed = shown.flatMap(({ args = [], file, line }) => (args.length === 0 ? [] : [{ args, file, line }]))
      assert.isAbove(typed.length, 15)
      const helps = Map.groupBy(typed, ({ args }) => pathOf(args).join(" "))
      for (const [path, lines] of helps) {
        const help = yield* printed(...path.split(" "), "--help")
        for (const { args, file, line } of lines)
          for (const option of args.filter((word) => /^--\w/u.test(word)))
            assert.include(help, option.replace(/=.*$/u, ""), `${file}: ${line}`)
      }
    }),
  )
})
