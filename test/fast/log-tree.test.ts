/** The tree and its proofs against what other implementations made of the same leaves, and against any change of a bit. */
import { assert, describe, it } from "@effect/vitest"
import { base64, type Bytes, hex, utf8 } from "../../schema/log/Bytes.ts"
import { bundleBytes, tilePath, widthAt } from "../../schema/log/Tile.ts"
import { growingTree, includes } from "../../src/buyer/log/MerkleProofs.ts"
import {
  append,
  edgePlaces,
  extendsTree,
  hashesOf,
  leafOf,
  rootOf,
  sha256,
  subtreeHash,
  tileBytes,
  tileMemo,
} from "../../src/log/Tree.ts"
import { goldenLeaves, goldenLog, keyOf, MemoryLog } from "../lab/log/MemoryLog.ts"
import { golden, rfc } from "../lab/log/Vectors.ts"
import { assertEach } from "../lab/Assertions.ts"

const rfcLog = (size: number) =>
  new MemoryLog().append(rfc.leaves.slice(0, size).map((leaf) => leafOf(Buffer.from(leaf, "hex"))))

/** Holds that a log has these inclusion and consistency proofs. */
const assertProofs = (log: MemoryLog, { consistency, inclusion }: Pick<typeof rfc, "consistency" | "inclusion">) => {
  for (const { hashes, index, size } of inclusion)
    assert.deepStrictEqual(log.inclusion(index, size).map(base64), hashes)
  for (const { hashes, old, size } of consistency)
    assert.deepStrictEqual(log.consistency(old, size).map(base64), hashes)
}

describe("the tree of the log", () => {
  it("has the roots and proofs of RFC 6962's example", () => {
    assertEach(rfc.roots, (_, size) => hex(rfcLog(size).root), rfc.roots)
    assertProofs(rfcLog(8), rfc)
  })

  it("has the roots and proofs of another implementation's log", () => {
    const whole = goldenLog(5000)
    for (const { root, size } of golden.checkpoints) {
      assert.strictEqual(base64(goldenLog(size).root), root)
      if (size > 0) assert.strictEqual(base64(whole.rootAt(size)), root)
    }
    assertProofs(whole, golden)
  })

  it("has the files of another implementation's log", () => {
    const filesOf = (size: number) =>
      Object.fromEntries(
        [...goldenLog(size).tiles].map(([place, bytes]) => {
          const [level = 0, index = 0] = place.split("/").map(Number)
          return [tilePath({ level, index, width: widthAt(size, { level, index }) }), hex(bytes)]
        }),
      )
    const bundle = (...entries: ReadonlyArray<string>) => hex(bundleBytes(entries.map(utf8)))
    assert.deepStrictEqual(
      { ...filesOf(2), "tile/entries/000.p/2": bundle("entry-0", "entry-1") },
      { ...golden.files[2] },
    )
    const { "tile/0/000": first, ...files } = filesOf(257)
    assert.lengthOf(first ?? "", 2 * 32 * 256)
    assert.deepStrictEqual({ ...files, "tile/entries/001.p/1": bundle("entry-256") }, { ...golden.files[257] })
  })

  it("is the same however it was built", () => {
    const size = 70_000
    const leaves = goldenLeaves(0, size)
    const contentOf = ({ tiles }: MemoryLog) => [...tiles].map(([place, bytes]) => `${place} ${hex(sha256(bytes))}`)
    const log = new MemoryLog()
    for (let at = 0; at < size; at += 137) log.append(leaves.slice(at, at + 137))
    assert.sameMembers(contentOf(log), contentOf(new MemoryLog().append(leaves)))
    assertEach(edgePlaces(size), tilePath, ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"])
  })

  it("continues from its tiles alone, at any size", () => {
    const log = new MemoryLog()
    for (const leaf of goldenLeaves(0, 300)) {
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

describe("a proof", () => {
  const most = 300
  const log = goldenLog(most)
  const leaves = goldenLeaves(0, most)
  const leafAt = (index: number) => Uint8Array.from(leaves[index] ?? log.root)
  const roots = Array.from({ length: most + 1 }, (_, size) => (size === 0 ? rootOf([]) : log.rootAt(size)))
  const treeOf = (size: number) => ({ size, root: Uint8Array.from(roots[size] ?? log.root) })

  const flips = (bytes: Uint8Array) =>
    Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const flipped = Uint8Array.from(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      return flipped
    })

  const othersThan = (number: number) => Array.from({ length: most + 1 }, (_, at) => at).filter((at) => at !== number)

  /** The hashes with any bit changed, one too few, one too many, and one too short. */
  const changesOf = (hashes: ReadonlyArray<Bytes>, more: Bytes) => [
    ...hashes.flatMap((hash, at) => flips(hash).map((changed) => hashes.with(at, changed))),
    ...(hashes.length > 0 ? [hashes.slice(1), hashes.slice(0, -1), hashes.with(0, more.slice(1))] : []),
    [...hashes, more],
  ]

  const assertRefused = async (verdicts: ReadonlyArray<Promise<boolean> | boolean>, why: string) =>
    assert.notInclude(await Promise.all(verdicts), true, why)

  it("is of the tree that the page grows leaf by leaf", async () => {
    const tree = growingTree()
    for (let size = 0; size <= most; size += 1) {
      assert.deepStrictEqual([tree.size(), base64(await tree.root())], [size, base64(treeOf(size).root)])
      await tree.push(leafAt(size))
    }
  })

  it("holds for every leaf and every older tree", async () => {
    for (const size of [...Array.from({ length: 33 }, (_, at) => at + 1), 64, 70, 257]) {
      for (let at = 0; at < size; at += 1) {
        const what = `${at} of ${size}`
        assert.isTrue(await includes(treeOf(size), at, leafAt(at), log.inclusion(at, size)), what)
        assert.isTrue(extendsTree(treeOf(at + 1), treeOf(size), log.consistency(at + 1, size)), what)
      }
    }
  })

  it.each([
    [0, 1],
    [5, 8],
    [77, 130],
  ])("of leaf %i of %i fails with any bit, length, index or size changed", async (index, size) => {
    const [tree, leaf, hashes] = [treeOf(size), leafAt(index), log.inclusion(index, size)]
    await assertRefused(
      [
        ...flips(tree.root).map((root) => includes({ size, root }, index, leaf, hashes)),
        ...flips(leaf).map((flipped) => includes(tree, index, flipped, hashes)),
        ...changesOf(hashes, leaf).map((wrong) => includes(tree, index, leaf, wrong)),
        ...[-1, 0.5, Number.NaN, ...othersThan(index)].map((at) => includes(tree, at, leaf, hashes)),
      ],
      "another leaf",
    )
    // Another size under the same root may leave the path as it is: then the root, which is signed with the size, rules.
    await assertRefused(
      othersThan(size).map((at) => includes(treeOf(at), index, leaf, hashes)),
      "another tree",
    )
  })

  it.each([
    [1, 2],
    [4, 8],
    [77, 130],
  ])("that %i leaves begin %i fails with any bit, length or size changed", async (old, size) => {
    const [before, after, hashes] = [treeOf(old), treeOf(size), log.consistency(old, size)]
    await assertRefused(
      [
        ...flips(before.root).map((root) => extendsTree({ size: old, root }, after, hashes)),
        ...flips(after.root).map((root) => extendsTree(before, { size, root }, hashes)),
        ...changesOf(hashes, after.root).map((wrong) => extendsTree(before, after, wrong)),
        ...othersThan(old).map((at) => extendsTree(treeOf(at), after, hashes)),
        ...othersThan(size).map((at) => extendsTree(before, treeOf(at), hashes)),
        extendsTree(after, before, hashes),
        extendsTree(after, after, [before.root]),
        extendsTree({ ...after, root: before.root }, after, []),
      ],
      "another history",
    )
  })

  it("is correct beyond 32 bits", async () => {
    // The last leaf of a tree of 2^40 + 1 is alone on its side: one sibling, the perfect tree before it.
    const last = leafAt(0)
    const root = sha256(Uint8Array.from([1, ...leafAt(1), ...last]))
    const size = 2 ** 40 + 1
    assert.isTrue(await includes({ size, root }, 2 ** 40, last, [leafAt(1)]))
    assert.isFalse(await includes({ size, root }, 0, last, [leafAt(1)]))
    assert.isTrue(extendsTree({ size: 2 ** 40, root: leafAt(1) }, { size, root }, [last]))
  })
})

describe("the cache of tiles", () => {
  it.each([1, 3, 129, 256])("has every subtree of a tile of width %i, also once the tile changed", (width) => {
    const hashOf = tileMemo()
    const place = { level: 0, index: 7 }
    for (const salt of [0, 1]) {
      const bytes = tileBytes(Array.from({ length: width }, (_, at) => sha256(Uint8Array.of(at, salt))))
      for (let count = 1; count <= width; count *= 2) {
        for (let start = 0; start + count <= width; start += count)
          assert.strictEqual(hex(hashOf(place, bytes, start, count)), hex(subtreeHash(place, bytes, start, count)))
      }
    }
  })
})
