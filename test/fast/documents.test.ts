/** Documents name what there is, and each of their examples is run by a test or says why not. */
import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { printed } from "../lab/CommandRun.ts"
import { documents, examplesOf } from "../lab/Documents.ts"
import { filesIn, jsonOf, root, textOf } from "../lab/Sources.ts"
import { assert, assertEach, assertNone, describe, effect, it } from "../lab/Suites.ts"

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

  it("documents name every script of the package", () => {
    const text = textOf("CONTRIBUTING.md")
    assert.deepStrictEqual(
      // npm runs `prepack` by itself, which names the script to run.
      Object.keys(scripts).filter(
        (name) => name !== "prepack" && !new RegExp("`(?:npm (?:run )?)?" + name + "\\b", "u").test(text),
      ),
      [],
    )
  })
})

/** A test or its support that reads the document and runs the example. */
const run = (by: string) => ({ by }) as const
/** No test runs it from the document. */
const not = (why: string) => ({ why }) as const

const drawing = not("a drawing or a list of folders")
const long = not("runs for minutes or longer by design")
const recipe = not("a formula; test/fast/recipes.test.ts holds its vectors")
const policy = not("a policy with shortened keys; test/fast/log-policy.test.ts reads whole ones")

const packed = not("installs into /opt; test/pack/pack.test.ts packs, installs elsewhere and serves")

const examples: Readonly<
  Record<string, ReadonlyArray<readonly [begins: string, how: ReturnType<typeof run | typeof not>]>>
> = {
  "README.md": [
    [" you", drawing],
    ["npm ci && npm start", not("installs into this very checkout; test/cli/sandbox.test.ts starts what it starts")],
    ["npm run buy -- witness", run("test/sandbox/documents.test.ts")],
    ["npm run package", packed],
  ],
  "ARCHITECTURE.md": [
    ["schema/", drawing],
    ["bytes", drawing],
  ],
  "CONTRIBUTING.md": [["npm ci", not("installs, and runs until it is stopped")]],
  "SECURITY.md": [["sha256sum", not("compares two downloads and checks out another commit; test/pack builds twice")]],
  "docs/adding-an-act.md": [
    ["export const ringBell", run("test/contract/adding-an-act.test.ts")],
    ["const act = paidAct", run("test/contract/adding-an-act.test.ts")],
    ["const ringing = actText", run("test/contract/adding-an-act.test.ts")],
  ],
  "docs/benchmarks.md": [["npm run bench", long]],
  "docs/debugging.md": [
    ["curl -si -X POST", run("test/sandbox/documents.test.ts")],
    ["SELECT id, act, rail", not("shows fragments with holes (…) to fill in")],
    ["# the database", run("test/sandbox/documents.test.ts")],
    ["npm test -- test/altar", not("runs the tests themselves")],
  ],
  "docs/decisions/0007-commitment-recipe.md": [["commitment =", recipe]],
  "docs/fire.md": [["npm run campaign -- fire", long]],
  "docs/integrating.md": [
    ["# What does it cost?", run("test/sandbox/documents.test.ts")],
    ["mkdir stone", not("installs from a registry; test/integrators/integrators.test.ts installs locked versions")],
    ["import { createHash", run("test/integrators/integrators.test.ts")],
    ["npx tsc", not("test/integrators/integrators.test.ts compiles and runs the program with its locked compiler")],
    ["import hashlib", run("test/integrators/python.test.ts")],
    ["commitment =", recipe],
  ],
  "docs/library.md": [
    ["npm run buy -- witness", run("test/sandbox/documents.test.ts")],
    ["import { privateKeyToAccount }", run("test/buyer/library-page.test.ts")],
  ],
  "docs/limits.md": [["npm run campaign -- hostile", long]],
  "docs/nix.md": [
    ["nix run", not("needs Nix and its cache; test/nix reads what it is made of")],
    ["# imports", not("an excerpt for a NixOS machine; test/nix evaluates the module where Nix is there")],
  ],
  "docs/operations.md": [
    ["npm run package", packed],
    ["sudo -u postgres createuser", not("needs the database's superuser; test/operations/roles.test.ts makes roles")],
    ["node --env-file", not("reads an operator's file; test/operations/check.test.ts runs the check")],
    ["spirit-altar witness --url", not("pays real money; test/sandbox/documents.test.ts buys and verifies")],
    ["node --max-semi", not("starts a production server; test/pack/production.test.ts starts one")],
    ["CREATE ROLE altar_owner", run("test/operations/roles.test.ts")],
    ["REVOKE ALL ON SCHEMA", run("test/operations/roles.test.ts")],
    ["REVOKE UPDATE, DELETE", run("test/operations/roles.test.ts")],
    ["[databases]", run("test/operations/proxies.test.ts")],
    ["pg_dump", not("needs the client programs of PostgreSQL, which npm does not bring")],
    ["upstream altar", run("test/operations/proxies.test.ts")],
    ["altar.example {", run("test/operations/proxies.test.ts")],
    [
      "SELECT id, act, payer",
      not("a query for a payment that was lost; test/payments/finality.test.ts acknowledges one"),
    ],
    ["spirit-altar admin refund  ", not("names a payment; test/payments/refunds.test.ts refunds some")],
    ["spirit-altar admin refund --payment", not("names a payment; test/payments/refunds.test.ts signs elsewhere")],
    ["spirit-altar log key", run("test/sandbox/documents.test.ts")],
    ["spirit-altar log join", not("asks a public altar; test/log/join.test.ts runs it on a local one")],
    ["witness watcher", policy],
    ["spirit-altar log watch", not("asks a public altar; test/log/end-to-end.test.ts watches a local one")],
    [
      "spirit-altar witness-serve",
      not("serves under another host's name; test/log/end-to-end.test.ts runs the command"),
    ],
  ],
  "docs/proofs.md": [
    ["log altar.example/log", policy],
    ["spirit-altar witness", not("asks a public altar; test/log/end-to-end.test.ts runs each command on a local one")],
    ["spirit-altar log mirror", not("asks a public altar; test/log/mirror.test.ts mirrors a log of this machine")],
    [
      "spirit-altar verify --receipt",
      not("reads a file of a public altar; test/payments/receipt-files.test.ts runs it"),
    ],
    [
      "spirit-altar receipts authorize",
      not("asks a public altar; test/payments/receipt-authorizations.test.ts runs it"),
    ],
    ["spirit-altar/act/v1", not("is the form of an entry; test/log/acts.test.ts makes each from it")],
    ["vkey=", run("test/log/shell.test.ts")],
  ],
  "docs/scale.md": [["npm run campaign -- scale", long]],
  "docs/testing.md": [
    ["npm run campaign -- --help", run("test/fast/campaign.test.ts")],
    ["npm run campaign -- mutants", long],
    ["node test/audit/main.ts", long],
  ],
}

const readerOf = (file: string) => {
  const text = textOf(file)
  return text.includes('from "./Guide.ts"') ? text + textOf("test/operations/Guide.ts") : text
}

describe("the examples of", () => {
  it.each(documents)("%s run in a test, or have a reason why not", (file) => {
    const listed = examples[file] ?? []
    const found = examplesOf(file).map(({ begins }) => begins)
    assertEach(
      found,
      (begins) => listed.filter(([start]) => begins.startsWith(start)).length,
      found.map(() => 1),
      found.join("\n"),
    )
    assert.strictEqual(listed.length, found.length)
    for (const [, how] of listed)
      if ("by" in how) assert.include(readerOf(how.by), file)
      else
        for (const [named] of how.why.matchAll(/\btest\/[\w./-]+\b/gu))
          assert.isTrue(existsSync(join(root, named)), named)
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
  const command = /^(?:exec )?node (?:--\S+ )*src\/start\.js (\w+)$/u.exec(scripts[script] ?? "")?.[1]
  return command === undefined ? { script } : { script, args: [command, ...args] }
}

const groups = new Set(["buy", "room", "log", "act", "admin", "receipts"])

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

  effect("of ours has valid options", function* () {
    const typed = shown.flatMap(({ args, file, line }) =>
      args === undefined || args.length === 0 ? [] : [{ args, file, line }],
    )
    assert.isAbove(typed.length, 15)
    for (const { args, file, line } of typed) {
      const help = yield* printed(...pathOf(args), "--help")
      for (const option of args.filter((word) => /^--\w/u.test(word)))
        assert.include(help, option.replace(/=.*$/u, ""), `${file}: ${line}`)
    }
  })
})
