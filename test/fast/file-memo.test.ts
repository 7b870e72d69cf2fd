/** Files kept in memory: so many bytes of them and for so long, the longest unused go first. */
import { assert, it } from "@effect/vitest"
import * as FileMemo from "../../src/log/FileMemo.ts"

it("keeps what was used last, within its bytes and its time", () => {
  const memo = FileMemo.make<string>({ mostBytes: 100, freshMs: 1000 })
  memo.set("a", "A", 40, 0)
  memo.set("b", "B", 40, 0)
  assert.strictEqual(memo.get("a", 10), "A")
  memo.set("c", "C", 40, 20)
  assert.deepStrictEqual(
    ["a", "b", "c"].map((path) => memo.get(path, 30)),
    ["A", undefined, "C"],
  )
  memo.set("a", "A2", 60, 40)
  assert.deepStrictEqual([memo.get("a", 50), memo.get("c", 50)], ["A2", "C"])
  memo.set("whale", "W", 101, 60)
  assert.isUndefined(memo.get("whale", 60))
  assert.strictEqual(memo.get("a", 1039), "A2")
  assert.isUndefined(memo.get("a", 1040), "it is made anew a second after it was made, however often it was read")
  memo.set("d", "D", 60, 1040)
  assert.deepStrictEqual([memo.get("c", 1019), memo.get("d", 1041)], ["C", "D"])
})
