/** The check of docs/proofs.md that needs no code of ours, against logs of every shape, as its reader runs it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { utf8 } from "../../schema/log/Bytes.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { newFolder } from "../lab/Folders.ts"
import { origin, signer } from "../lab/log/LogFixture.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { run } from "../lab/Process.ts"

const entries = StaticLog.entriesOf(7)
const log = new MemoryLog().append(entries.map(leafOf))

const [, script = ""] = /```bash\n([^]*?)```/u.exec(readFileSync("docs/proofs.md", "utf8")) ?? []

/** The lines that it writes for a stone with the proof of one at an index. */
const check = async (index: number, size: number, { proofOf = index, extra = "", end = "\n" } = {}) => {
  const folder = newFolder()
  const stone = StaticLog.linkOf(entries[index] ?? new Uint8Array())
  writeFileSync(join(folder, "stone.json"), JSON.stringify({ ok: true, stone }))
  const checkpoint = signer.note({ origin, size, root: Uint8Array.from(log.rootAt(size)), extensions: [] })
  const hashes = log.inclusion(proofOf, size)
  const proof = proofFileText({ extra: extra === "" ? undefined : utf8(extra), index, hashes, checkpoint })
  writeFileSync(join(folder, "proof"), proof.replaceAll("\n", end))
  const own = script.replace(/^vkey=.*$/mu, `vkey='${signer.vkey}'`)
  const { stderr, stdout } = await run(["-c", own], { command: "bash", cwd: folder, env: process.env }).ended
  return (stdout + stderr).trim().split("\n")
}

const signed = ["stone: hashes to its chainHash", "Signature Verified Successfully"]

describe("the manual's shell commands", () => {
  it("prove stones at the ends and in the middle of logs of one, two, five and seven", async () => {
    for (const [size, ...indexes] of [
      [1, 0],
      [2, 1],
      [5, 0, 4],
      [7, 3, 6],
    ] as const)
      for (const index of indexes)
        assert.deepStrictEqual(await check(index, size), [...signed, "tree: holds the stone"], `${index} of ${size}`)
    assert.deepStrictEqual(await check(3, 5, { extra: "more" }), [...signed, "tree: holds the stone"])
  })

  it("name the line ends of a copied proof", async () => {
    const said = await check(3, 5, { end: "\r\n" })
    assert.deepStrictEqual(said, ["the proof's lines end with CRLF: download it again"])
  })

  it("reject a stone with the proof of another", async () => {
    for (const [index, proofOf, size] of [
      [0, 1, 2],
      [4, 3, 5],
      [3, 4, 5],
    ] as const) {
      const said = await check(index, size, { proofOf })
      assert.deepStrictEqual(said.slice(0, 2), signed)
      assert.notInclude(said, "tree: holds the stone")
    }
  })
})
