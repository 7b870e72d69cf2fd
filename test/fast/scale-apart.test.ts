/** What does not go through PgBouncer is listed by files that there are; everything else goes. */
import { existsSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { apart, withDatabase } from "../campaign/scale/Apart.ts"

it("each test file that is left out exists, is named once, and has its reason", () => {
  const files = apart.flatMap(({ files: named }) => named)
  assert.deepStrictEqual(
    files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url))),
    [],
  )
  assert.strictEqual(new Set(files).size, files.length)
  for (const { why } of apart) assert.isNotEmpty(why)
})

it("what is run has a database: its folders are those of the tests, and no fast test is among it", () => {
  const run = withDatabase()
  assert.isAbove(run.length, 100)
  for (const folder of ["agents", "browser", "buyer", "cli", "contract", "crash", "payments", "room", "telemetry"])
    assert.isTrue(
      run.some((file) => file.startsWith(`test/${folder}/`)),
      folder,
    )
  assert.deepStrictEqual(
    run.filter((file) => /^test\/fast\/|node_modules/u.test(file)),
    [],
  )
})
