/** Every proof of every tree against the verifier, an independent implementation, and any change of a bit. */
import { assert, describe, it } from "@effect/vitest"
import { RFC9162 } from "@transmute/rfc9162"
import { base64, utf8 } from "../../schema/log/Bytes.ts"
import { extendsTree, includes } from "../../src/buyer/log/MerkleProofs.ts"
import { sha256 } from "../../src/log/Tree.ts"
import { goldenLeaves, goldenLog } from "../lab/log/MemoryLog.ts"

const most = 130

describe("proofs", () => {
  const log = goldenLog(most)
  const leaves = goldenLeaves(0, most)
  const roots = Array.from({ length: most + 1 }, (_, size) =>
    size === 0 ? log.root : Uint8Array.from(log.rootAt(size)),
  )
  const treeOf = (size: number) => ({ size, root: Uint8Array.from(roots[size] ?? log.root) })
  const leafAt = (index: number) => Uint8Array.from(leaves[index] ?? log.root)

  it("of every leaf in every tree up to 130 hold", async () => {
    for (let size = 1; size <= most; size += 1) {
      const verdicts = await Promise.all(
        Array.from({ length: size }, (_, index) =>
          includes(treeOf(size), index, leafAt(index), log.inclusion(index, size)),
        ),
      )
      assert.isTrue(verdicts.every(Boolean), `size ${size}`)
    }
  })

  it("of every tree in every later one up to 130 hold", async () => {
    for (let size = 1; size <= most; size += 1) {
      const verdicts = await Promise.all(
        Array.from({ length: size }, (_, at) =>
          extendsTree(treeOf(at + 1), treeOf(size), log.consistency(at + 1, size)),
        ),
      )
      assert.isTrue(verdicts.every(Boolean), `size ${size}`)
    }
  })

  it("equal those of an independent implementation", async () => {
    const entries = Array.from({ length: 70 }, (_, at) => utf8(`entry-${at}`))
    for (const size of [1, 2, 3, 7, 8, 9, 31, 33, 64, 70]) {
      const some = entries.slice(0, size)
      assert.strictEqual(base64(await RFC9162.MTH(some)), base64(log.rootAt(size)))
      for (const at of new Set([0, 1, Math.floor(size / 3), Math.floor(size / 2), size - 2, size - 1])) {
        if (at < 0 || at >= size) continue
        const path = await RFC9162.PATH(at, some)
        assert.deepStrictEqual(path.map(base64), log.inclusion(at, size).map(base64), `leaf ${at} of ${size}`)
        if (at + 1 === size) continue
        const old = at + 1
        const proof = await RFC9162.PROOF(old, some)
        // It brings the old root along where that is a perfect subtree, which its verifier then needs; RFC 9162 does not.
        const needless = Number.isInteger(Math.log2(old)) ? 1 : 0
        assert.deepStrictEqual(
          proof.slice(needless).map(base64),
          log.consistency(old, size).map(base64),
          `${old} of ${size}`,
        )
      }
    }
  })

  const flips = (bytes: Uint8Array) =>
    Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const flipped = Uint8Array.from(bytes)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      return flipped
    })

  const any = async (verdicts: ReadonlyArray<Promise<boolean>>) => (await Promise.all(verdicts)).some(Boolean)

  it("of inclusion fail with any bit, length, index or size changed", async () => {
    for (const [index, size] of [
      [0, 1],
      [5, 8],
      [6, 7],
      [64, 65],
      [77, 130],
    ] as const) {
      const tree = treeOf(size)
      const hashes = log.inclusion(index, size)
      const leaf = leafAt(index)
      const what = `leaf ${index} of ${size}`
      assert.isFalse(await any(flips(tree.root).map((root) => includes({ size, root }, index, leaf, hashes))), what)
      assert.isFalse(await any(flips(leaf).map((flipped) => includes(tree, index, flipped, hashes))), what)
      for (const at of hashes.keys()) {
        const changed = flips(hashes[at] ?? leaf).map((hash) => hashes.with(at, hash))
        assert.isFalse(await any(changed.map((wrong) => includes(tree, index, leaf, wrong))), what)
      }
      const indexes = Array.from({ length: most + 1 }, (_, at) => at - 1).filter((at) => at !== index)
      assert.isFalse(await any(indexes.map((at) => includes(tree, at, leaf, hashes))), what)
      // Another size under the same root may leave the path as it is: then the root, which is signed with the size, rules.
      const sizes = Array.from({ length: most }, (_, at) => at + 1).filter((at) => at !== size)
      assert.isFalse(await any(sizes.map((at) => includes(treeOf(at), index, leaf, hashes))), what)
      const short = hashes.map((hash, at) => (at === 0 ? hash.slice(1) : hash))
      const lengths = [...(hashes.length > 0 ? [hashes.slice(1), hashes.slice(0, -1), short] : []), [...hashes, leaf]]
      assert.isFalse(await any(lengths.map((wrong) => includes(tree, index, leaf, wrong))), what)
    }
    assert.isFalse(
      await any([includes(treeOf(8), Number.NaN, leafAt(0), []), includes(treeOf(8), 0.5, leafAt(0), [])]),
      "no index",
    )
    assert.isFalse(await any([includes(treeOf(8), 0, leafAt(0), []), includes(treeOf(0), 0, leafAt(0), [])]), "no path")
  })

  it("of consistency fail with any bit, length or size changed", async () => {
    for (const [old, size] of [
      [1, 2],
      [4, 8],
      [6, 7],
      [6, 8],
      [64, 130],
      [77, 130],
    ] as const) {
      const [before, after] = [treeOf(old), treeOf(size)]
      const hashes = log.consistency(old, size)
      const what = `${old} in ${size}`
      assert.isFalse(await any(flips(before.root).map((root) => extendsTree({ size: old, root }, after, hashes))), what)
      assert.isFalse(await any(flips(after.root).map((root) => extendsTree(before, { size, root }, hashes))), what)
      for (const at of hashes.keys()) {
        const changed = flips(hashes[at] ?? after.root).map((hash) => hashes.with(at, hash))
        assert.isFalse(await any(changed.map((wrong) => extendsTree(before, after, wrong))), what)
      }
      const others = Array.from({ length: most }, (_, at) => at + 1)
      assert.isFalse(
        await any(others.filter((at) => at !== old).map((at) => extendsTree(treeOf(at), after, hashes))),
        what,
      )
      assert.isFalse(
        await any(others.filter((at) => at !== size).map((at) => extendsTree(before, treeOf(at), hashes))),
        what,
      )
      const lengths = [hashes.slice(1), hashes.slice(0, -1), [...hashes, after.root]]
      assert.isFalse(await any(lengths.map((wrong) => extendsTree(before, after, wrong))), what)
      assert.isFalse(await any([extendsTree(after, before, hashes)]), what)
    }
    assert.isFalse(
      await any([extendsTree(treeOf(8), treeOf(8), [leafAt(0)]), extendsTree(treeOf(0), treeOf(8), [])]),
      "no proof",
    )
    assert.isFalse(await any([extendsTree({ size: 8, root: leafAt(0) }, treeOf(8), [])]), "another root")
  })

  it("are correct beyond 32 bits", async () => {
    // The last leaf of a tree of 2^40 + 1 is alone on its side: one sibling, the perfect tree before it.
    const last = leafAt(0)
    const root = sha256(Uint8Array.from([1, ...leafAt(1), ...last]))
    const size = 2 ** 40 + 1
    assert.isTrue(await includes({ size, root }, 2 ** 40, last, [leafAt(1)]))
    assert.isFalse(await includes({ size, root }, 0, last, [leafAt(1)]))
    assert.isTrue(await extendsTree({ size: 2 ** 40, root: leafAt(1) }, { size, root }, [last]))
  })
})
