/** The tree against what other implementations made of the same leaves, and against itself however it was built. */
import { base64, hex, utf8 } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { bundleBytes, tilePath, widthAt } from "../../schema/log/Tile.ts"
import * as TileMemo from "../../src/log/TileMemo.ts"
import { append, edgePlaces, hashesOf, leafOf, rootOf, sha256, subtreeHash, tileBytes } from "../../src/log/Tree.ts"
import { goldenLeaves, goldenLog, keyOf, MemoryLog } from "../lab/log/MemoryLog.ts"
import { golden, rfc, stones } from "../lab/log/Vectors.ts"
import { assert, assertEach, describe, it } from "../lab/Suites.ts"

const rfcLog = (size: number) =>
  new MemoryLog().append(rfc.leaves.slice(0, size).map((leaf) => leafOf(Buffer.from(leaf, "hex"))))

const contentOf = ({ tiles }: MemoryLog) =>
  Object.fromEntries([...tiles].map(([place, bytes]) => [place, hex(sha256(bytes))]))

describe("the tree of the log", () => {
  it("has the roots of RFC 6962's example", () => {
    assertEach(rfc.roots, (_, size) => hex(rfcLog(size).root), rfc.roots)
  })

  it("has the proofs of RFC 6962's example", () => {
    for (const { hashes, index, size } of rfc.inclusion) {
      assert.deepStrictEqual(rfcLog(size).inclusion(index).map(base64), hashes)
      assert.deepStrictEqual(rfcLog(8).inclusion(index, size).map(base64), hashes)
    }
    for (const { hashes, old, size } of rfc.consistency) {
      assert.deepStrictEqual(rfcLog(8).consistency(old, size).map(base64), hashes)
    }
  })

  it("has the roots, proofs, tiles and bundles of another implementation's log", () => {
    const whole = goldenLog(5000)
    for (const { root, size } of golden.checkpoints) {
      assert.strictEqual(base64(goldenLog(size).root), root)
      if (size > 0) assert.strictEqual(base64(whole.rootAt(size)), root)
    }
    assert.strictEqual(hex(goldenLog(7).root), "9139601cc1ca8ab2a7a0c2c134c04845f2b1ba549a83d6c845cfcda439cc585d")
    for (const { hashes, index, size } of golden.inclusion) {
      assert.deepStrictEqual(whole.inclusion(index, size).map(base64), hashes)
    }
    for (const { hashes, old, size } of golden.consistency) {
      assert.deepStrictEqual(whole.consistency(old, size).map(base64), hashes)
    }
    assert.lengthOf(whole.inclusion(0, 257), 9)
    const long = whole.consistency(255, 257).map(base64)
    assert.deepStrictEqual(
      [long.length, long[0], long.at(-1)],
      [10, "9pZCvR34YgKPO8GSkcJpme8dVqfTl0J3XgG/vrw9kYo=", "3LAG8L3VTdYHvrXRIhHSSONWZAbkWWNYlXJMPVengOc="],
    )
  })

  it("has the files of another implementation's log", () => {
    const filesOf = (size: number) => {
      const { tiles } = goldenLog(size)
      return Object.fromEntries(
        [...tiles].map(([place, bytes]) => {
          const [level = 0, index = 0] = place.split("/").map(Number)
          const width = widthAt(size, { level, index })
          assert.strictEqual(bytes.length, width * 32)
          return [tilePath({ level, index, width }), hex(bytes)]
        }),
      )
    }
    assert.strictEqual(filesOf(2)["tile/0/000.p/2"], golden.files[2]["tile/0/000.p/2"])
    const files = filesOf(257)
    assert.deepStrictEqual(Object.keys(files).toSorted(), ["tile/0/000", "tile/0/001.p/1", "tile/1/000.p/1"])
    assert.strictEqual(files["tile/0/001.p/1"], golden.files[257]["tile/0/001.p/1"])
    assert.strictEqual(files["tile/1/000.p/1"], golden.files[257]["tile/1/000.p/1"])
    const bundle = (...entries: ReadonlyArray<string>) => hex(bundleBytes(entries.map(utf8)))
    assert.strictEqual(bundle("entry-0", "entry-1"), golden.files[2]["tile/entries/000.p/2"])
    assert.strictEqual(bundle("entry-256"), golden.files[257]["tile/entries/001.p/1"])
  })

  it("contains stones by the text of their chain hash", () => {
    const log = new MemoryLog()
    let previousHash = "0".repeat(64)
    for (const [at, { chainHash, leafHash, root }] of stones.entries()) {
      const n = at + 1
      const entry = entryOf({
        previousHash,
        sequence: n,
        commitment: hex(sha256(utf8(`stone-${n}`))),
        witnessedAt: `2026-11-21T00:00:0${n}.000Z`,
        transaction: `0x${String(n).repeat(64)}`,
      })
      assert.strictEqual(hex(sha256(entry)), chainHash)
      assert.strictEqual(hex(leafOf(entry)), leafHash)
      assert.strictEqual(base64(log.append([leafOf(entry)]).root), root)
      previousHash = chainHash
    }
    assert.deepStrictEqual(log.inclusion(1).map(base64), [
      "ojjuOSFJTLFXGyupDWrwimlGvVG24m2dAKqSEv17MhY=",
      "K/ULPqzrFpL76TOzwPG8ei/jsPVn9B/vlcED/lO9ORM=",
    ])
  })

  it("is the same however it was built", () => {
    const size = 70_000
    const leaves = goldenLeaves(0, size)
    const whole = new MemoryLog().append(leaves)
    for (const batch of [37, 256]) {
      const log = new MemoryLog()
      for (let at = 0; at < size; at += batch) log.append(leaves.slice(at, at + batch))
      assert.deepStrictEqual(contentOf(log), contentOf(whole), `batches of ${batch}`)
    }
    assertEach(edgePlaces(size), ({ index, level, width }) => tilePath({ level, index, width }), [
      "tile/0/273.p/112",
      "tile/1/001.p/17",
      "tile/2/000.p/1",
    ])
  })

  it("continues from its tiles alone, at any size", () => {
    const leaves = goldenLeaves(0, 600)
    const log = new MemoryLog()
    for (const leaf of leaves) {
      const edge = edgePlaces(log.size).map(({ width, ...place }) => {
        const hashes = hashesOf(log.tiles.get(keyOf(place)) ?? new Uint8Array())
        assert.lengthOf(hashes, width)
        return hashes
      })
      assert.deepStrictEqual(rootOf(edge), log.root)
      assert.deepStrictEqual(rootOf(append(edge, log.size, [leaf]).edge), log.append([leaf]).root)
    }
  })
})

const tile = (width: number, salt = 0) =>
  tileBytes(Array.from({ length: width }, (_, at) => sha256(Uint8Array.of(at, salt))))

describe("the cache of tiles", () => {
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

  it("is limited, and correct after an eviction", () => {
    const hashOf = TileMemo.make()
    const bytes = tile(256)
    const whole = hex(subtreeHash({ level: 0, index: 0 }, bytes, 0, 256))
    for (const index of [...Array.from({ length: 400 }).keys(), 0]) {
      assert.strictEqual(hex(hashOf({ level: 0, index }, bytes, 0, 256)), whole)
    }
  })
})
