/** What is remembered of tiles is what hashing them says, also when a tile grew or was changed. */
import { assert, describe, it } from "@effect/vitest"
import { hex } from "../../schema/log/Bytes.ts"
import * as TileMemo from "../../src/log/TileMemo.ts"
import { sha256, subtreeHash, tileBytes } from "../../src/log/Tree.ts"

const tile = (width: number, salt = 0) =>
  tileBytes(Array.from({ length: width }, (_, at) => sha256(Uint8Array.of(at, salt))))

describe("the memory of tiles", () => {
  it("has every subtree of a tile of any width", () => {
    const hashOf = TileMemo.make()
    const place = { level: 0, index: 7 }
    for (const [width, salt] of [
      [1, 0],
      [2, 0],
      [3, 0],
      [129, 0],
      [255, 0],
      [256, 0],
      [256, 1],
      [256, 0],
    ] as const) {
      const bytes = tile(width, salt)
      for (let count = 1; count <= width; count *= 2) {
        for (let start = 0; start + count <= width; start += count) {
          assert.strictEqual(hex(hashOf(place, bytes, start, count)), hex(subtreeHash(place, bytes, start, count)))
        }
      }
    }
  })

  it("is bounded, and right when it forgot", () => {
    const hashOf = TileMemo.make()
    const bytes = tile(256)
    const whole = hex(subtreeHash({ level: 0, index: 0 }, bytes, 0, 256))
    for (const index of [...Array.from({ length: 400 }).keys(), 0]) {
      assert.strictEqual(hex(hashOf({ level: 0, index }, bytes, 0, 256)), whole)
    }
  })
})
