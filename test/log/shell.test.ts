/** The check that needs no code of ours, against logs of every shape: also the first stone alone, whose proof has no hash. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { parseEntry } from "../../schema/log/Entry.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import { origin, signer } from "../lab/log/LogFixture.ts"
import * as ShellCheck from "../lab/log/ShellCheck.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { newFolder } from "../lab/Folders.ts"

const entries = StaticLog.entriesOf(7)
const log = new MemoryLog().append(entries.map(leafOf))

const check = (index: number, size: number, { proofOf = index, extra = "" } = {}) => {
  const folder = newFolder()
  const link = parseEntry(entries[index] ?? new Uint8Array())
  if (link instanceof Malformed) throw new Error(link.message)
  const stone = { ...link, chainHash: StaticLog.hashAt(entries, index + 1) }
  writeFileSync(join(folder, "stone.json"), JSON.stringify({ ok: true, stone }))
  const checkpoint = signer.note({ origin, size, root: Uint8Array.from(log.rootAt(size)), extensions: [] })
  const hashes = log.inclusion(proofOf, size)
  const proof = proofFileText({ extra: extra === "" ? undefined : utf8(extra), index, hashes, checkpoint })
  writeFileSync(join(folder, "proof"), proof)
  return ShellCheck.run(folder, signer.vkey)
}

describe("the manual's shell commands", () => {
  it("prove each stone of a log of one, two, five and seven", async () => {
    for (const size of [1, 2, 5, 7]) {
      for (const index of new Set([0, size >> 1, size - 1])) {
        assert.deepStrictEqual(await check(index, size), ShellCheck.proved, `stone ${index + 1} of ${size}`)
      }
    }
    assert.deepStrictEqual(await check(0, 1, { extra: "more" }), ShellCheck.proved)
    assert.deepStrictEqual(await check(3, 5, { extra: "more" }), ShellCheck.proved)
  })

  it("reject a stone with the proof of another", async () => {
    const [hashes, signed, ...rest] = ShellCheck.proved
    for (const [index, proofOf, size] of [
      [0, 1, 2],
      [4, 3, 5],
      [3, 4, 5],
    ] as const) {
      const said = await check(index, size, { proofOf })
      assert.deepStrictEqual(said.slice(0, 2), [hashes, signed])
      assert.notInclude(said, rest[0])
    }
  })
})
