/** docs/payment-protocol.md against the code: its table is the code's, and each of its invariants has a file and a test. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { column, table } from "../../src/payments/protocol/Table.ts"

const root = new URL("../..", import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), "utf8")
const page = read("docs/payment-protocol.md")

/** The cells of the rows whose first cell has this form. */
const rowsOf = (first: RegExp) =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([name = ""]) => first.test(name))

const codes = (text: string | undefined) => [...(text ?? "").matchAll(/`([^`]+)`/gu)].map(([, code = ""]) => code)

/** Invariants that a test is tagged with: a line such as `// I3, I5` right above it. */
const tagsOf = (file: string) =>
  [...read(file).matchAll(/^\s*\/\/ (I\d+(?:, I\d+)*)\n\s*it\b/gmu)].flatMap(([, tags = ""]) => tags.split(", "))

const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((file) => join("test", file))
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))

describe("the page of the payment protocol", () => {
  it("shows the table that the code reads", () => {
    const standings = Object.keys(column)
    const shown = rowsOf(/^`/u).filter((row) => row.length === standings.length + 1)
    assert.deepStrictEqual(
      rowsOf(/^evidence$/u)
        .find((row) => row.length > 2)
        ?.slice(1)
        .flatMap(codes),
      standings,
    )
    assert.deepStrictEqual(
      shown,
      Object.entries(table).map(([finding, rules]) => [`\`${finding}\``, ...rules]),
    )
    const explained = rowsOf(/^`\w+`$/u).filter((row) => row.length === 2)
    assert.deepStrictEqual(
      explained.flatMap(([name]) => codes(name)),
      [...Object.keys(table), ...standings],
    )
  })

  const invariants = rowsOf(/^I\d+$/u).map(([number = "", , enforced, tested]) => ({
    number,
    files: codes(enforced),
    tests: codes(tested),
  }))

  it.each(invariants)("$number names files that enforce it and tests that carry it", (invariant) => {
    assert.isNotEmpty(invariant.files)
    assert.isNotEmpty(invariant.tests)
    assert.deepStrictEqual(
      invariant.files.filter((file) => !existsSync(join(root, file))),
      [],
    )
    assert.deepStrictEqual(
      [...invariant.tests].sort(),
      tests.filter((file) => tagsOf(file).includes(invariant.number)).sort(),
    )
  })

  it("numbers its invariants from 1, and no test carries another number", () => {
    const numbers = invariants.map(({ number }) => number)
    assert.deepStrictEqual(
      numbers,
      numbers.map((_, index) => `I${index + 1}`),
    )
    const unknown = tests.flatMap((file) =>
      [...read(file).matchAll(/^\s*\/\/ (I\d+.*)$/gmu)]
        .filter(
          ([, tags = ""]) => !/^I\d+(?:, I\d+)*$/u.test(tags) || tags.split(", ").some((tag) => !numbers.includes(tag)),
        )
        .map(([tag]) => `${file}: ${tag.trim()}`),
    )
    assert.deepStrictEqual(unknown, [])
    const misplaced = tests.filter(
      (file) =>
        tagsOf(file).length !==
        [...read(file).matchAll(/^\s*\/\/ (I\d+(?:, I\d+)*)$/gmu)].flatMap(([, tags = ""]) => tags.split(", ")).length,
    )
    assert.deepStrictEqual(misplaced, [], "a tag stands above its test")
  })
})
