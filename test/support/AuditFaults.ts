/** Faults that are put into what an altar left, one at a time: each has to be found, by the check that is named. */
import { readFileSync, writeFileSync } from "node:fs"
import { assert, layer, type Vitest } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { GivenAnswer } from "../fire/audit/Given.ts"
import { Altar, altar, auditOf, putBack, type Sold, statement } from "./AuditedAltar.ts"
import { newKey } from "./World.ts"

/** SQL, and a check that finds it. */
export type Fault = readonly [name: string, change: string, check: string]

/** The first answer that fits is told otherwise; the check that finds it is the only one that does. */
export type Lie = readonly [
  name: string,
  fits: (answer: GivenAnswer) => boolean,
  change: (answer: GivenAnswer) => GivenAnswer,
  check: string,
]

/** What the auditor finds after a change, which is taken back afterwards. */
export const auditAfter = Effect.fnUntraced(function* (change: string, told: Partial<Sold> = {}) {
  const sold = yield* Altar
  yield* Effect.acquireRelease(statement(sold.databaseUrl, change), () => statement(sold.databaseUrl, putBack))
  return yield* auditOf({ ...sold, ...told })
}, Effect.scoped)

const toldOtherwise = Effect.fnUntraced(function* ([, fits, change]: Lie) {
  const { answers } = yield* Altar
  const all = readFileSync(answers, "utf8")
    .trim()
    .split("\n")
    .map((line): GivenAnswer => JSON.parse(line))
  const at = all.findIndex(fits)
  assert.isAtLeast(at, 0, "nothing was told that could be told otherwise")
  const file = `${answers}.${newKey()}`
  writeFileSync(file, all.map((answer, index) => JSON.stringify(index === at ? change(answer) : answer)).join("\n"))
  return file
})

type Stage = Layer.Success<typeof altar>
type Tests = Vitest.MethodsNonLive<Stage>

const found = (it: Tests, faults: ReadonlyArray<Fault>, lies: ReadonlyArray<Lie>) => {
  for (const [name, change, check] of faults) {
    it.effect(`finds ${name}`, () =>
      Effect.gen(function* () {
        const { violations } = yield* auditAfter(change)
        assert.include(
          violations.map((violation) => violation.check),
          check,
          JSON.stringify(violations, null, 1),
        )
      }),
    )
  }
  for (const lie of lies) {
    it.effect(`finds ${lie[0]} among the answers`, () =>
      Effect.gen(function* () {
        const { violations } = yield* auditAfter("SELECT 1", { answers: yield* toldOtherwise(lie) })
        assert.deepStrictEqual([...new Set(violations.map((violation) => violation.check))], [lie[3]])
      }),
    )
  }
}

/** Nothing is wrong with what is whole, all of it is looked at, and each fault and each lie is found. */
export const auditing = (
  what: string,
  faults: ReadonlyArray<Fault>,
  lies: ReadonlyArray<Lie> = [],
  more: (it: Tests) => void = () => {},
) =>
  layer(altar, { excludeTestServices: true })(`an auditor of ${what}`, (it) => {
    it.effect("finds nothing in an altar that is whole, and looks at all of it", () =>
      Effect.gen(function* () {
        const { checks, violations } = yield* auditAfter("SELECT 1")
        assert.deepStrictEqual(violations, [])
        const examined = new Map(checks.map((check) => [check.name, check.examined]))
        for (const check of [...faults.map((fault) => fault[2]), ...lies.map((lie) => lie[3])]) {
          // Nothing was lost or pending here that could be looked at.
          if (/lost act|said to be pending/u.test(check)) continue
          assert.isAbove(examined.get(check) ?? 0, 0, check)
        }
      }),
    )
    more(it)
    found(it, faults, lies)
  })
