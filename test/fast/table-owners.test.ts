/** Each table has one owner, the only folder whose statements name it. */
import { assert, describe, it } from "@effect/vitest"
import { filesIn, textOf } from "../lab/Sources.ts"

const sources = filesIn(["src", "migrations"])

/** The owner of a table: the only folder that names it in a statement. */
const owners: ReadonlyArray<readonly [table: RegExp, owner: RegExp]> = [
  [/^(?:payment_|relayer_)/u, /^src\/payments\//u],
  [/^acts$/u, /^src\/payments\//u],
  [/^(?:rooms|room_)/u, /^src\/room\//u],
  [/^rate_limit/u, /^src\/limits\//u],
  [/^log_/u, /^src\/log\//u],
  [/^moderation_/u, /^src\/altar\/HiddenTexts\.ts$/u],
  [/^admin_/u, /^src\/admin\//u],
  [/^witness_/u, /^src\/altar\/witness\//u],
  [/^prayers$/u, /^src\/altar\/prayers\//u],
  [/^keepers$/u, /^src\/altar\/keepers\//u],
  [/^candle/u, /^src\/altar\/candles\//u],
  [/^(?:publication|collectibles$)/u, /^src\/altar\/collectibles\//u],
]

const tables = sources
  .filter((file) => file.startsWith("migrations/"))
  .flatMap((file) =>
    [...textOf(file).matchAll(/CREATE (?:UNLOGGED )?TABLE ([a-z_]+)/gu)].map((match) => match[1] ?? ""),
  )

const tablesIn = (file: string) => {
  const text = textOf(file)
  const named = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b/gu)].map((match) => match[1] ?? "")
  const known = new Set(tables)
  return [...new Set(named)].filter((name) => known.has(name))
}

describe("tables", () => {
  it("have one owner each", () => {
    const wrong = tables.filter((table) => owners.filter(([pattern]) => pattern.test(table)).length !== 1)
    assert.deepStrictEqual(wrong, [])
  })

  it("are used by their owners alone", () => {
    const wrong = sources
      .filter((file) => file.startsWith("src/"))
      .flatMap((file) =>
        tablesIn(file)
          .filter((table) => owners.some(([pattern, owner]) => pattern.test(table) && !owner.test(file)))
          .map((table) => `${file} → ${table}`),
      )
    assert.deepStrictEqual(wrong, [])
  })
})
