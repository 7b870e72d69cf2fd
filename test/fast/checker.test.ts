/** The checker of the pages: it recognises a file by its form, and checks a proof line by line. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { chainLinkText } from "../../schema/altar/ChainLink.ts"
import { checkProof, type Logged } from "../../src/buyer/receipt/ProofChecks.ts"
import type { Trust } from "../../src/buyer/log/SignedCheckpoint.ts"
import { recognise } from "../../src/web/v2/proof/recognise.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { newFolder } from "../lab/Folders.ts"
import { cosigningKey } from "../lab/log/Cosigner.ts"
import { policyFrom } from "../lab/log/Cosigners.ts"
import { linkOf, madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"
import { foreignLog } from "../lab/log/MemoryLog.ts"

const [first, second] = [cosigningKey("w1.example"), cosigningKey("w2.example")]
const stoneOf = (word: string, at: number) => linkOf("0".repeat(64), at + 1, sha256(word), "2026-11-28T12:00:00.000Z")
const stones = ["tea", "milk", "salt"].map(stoneOf)
const [, milkStone = assert.fail()] = stones
const log = foreignLog("logs.example/2026", stones.map(chainLinkText), [first])
const proof = log.proof(1)

const inWindows = (document: object) => `${JSON.stringify(document, null, 2)}\n`.replaceAll("\n", "\r\n")

const statesOf = async (
  text: string,
  logged: Logged,
  trust: Trust,
): Promise<{ readonly [name: string]: string | boolean }> => {
  const { checks, ok } = await checkProof(text, logged, trust)
  return { ok, ...Object.fromEntries(checks.map(({ name, state }) => [name, state])) }
}

it("a dropped file is recognised as a receipt, a proof, or another kind", async () => {
  const { file } = madeReceiptFile()
  const receipt = JSON.stringify(file)
  const cases: ReadonlyArray<readonly [what: string, text: string, expected: object]> = [
    ["a receipt file", receipt, { kind: "receipt", act: file.act, kid: "did:web:altar.example#receipts-1" }],
    ["a proof", proof, { kind: "proof", origin: "logs.example/2026", index: 1, size: 3 }],
    ["nothing", " \n ", { kind: "unknown" }],
    ["bytes", "\u{fffd}PNG\0", { kind: "unknown" }],
    ["a page", "<!doctype html><html>", { kind: "unknown" }],
    ["all sealed words", `{"kind":"spirit-altar-sealed-words","words":[]}`, { kind: "box" }],
    ["sealed words", JSON.stringify({ salt: "a", words: "b", commitment: "0".repeat(64) }), { kind: "words" }],
    ["a file with a salt", `{"salt":"a","words":"b"}`, { kind: "unknown" }],
    ["a record", JSON.stringify(file.record), { kind: "unknown" }],
    ["half a receipt file", receipt.slice(0, 200), { word: "A damaged receipt file." }],
    ["a later format", receipt.replace("/v1", "/v2"), { word: "A damaged receipt file." }],
    ["a receipt file with one more member", JSON.stringify({ ...file, note: 1 }), { says: /note/u }],
    ["a receipt of another algorithm", JSON.stringify({ ...file, receipt: "a.b.c" }), { kind: "damaged" }],
    ["deep JSON", `{"a":${"[".repeat(200_000)}`, { kind: "unknown" }],
    ["a later proof", proof.replace("@v1", "@v2"), { word: "A damaged proof." }],
    ["a proof without its checkpoint", proof.slice(0, proof.indexOf("\n\n") + 2), { word: "A damaged proof." }],
    ["a proof with a short hash", proof.replace(/=\n/u, "\n"), { word: "A damaged proof." }],
    ["a proof with line ends of Windows", proof.replaceAll("\n", "\r\n"), { says: /end with CRLF/u }],
    ["a receipt file with line ends of Windows", inWindows(file), { kind: "receipt" }],
    ["a box with line ends of Windows", inWindows({ kind: "spirit-altar-sealed-words", words: [] }), { kind: "box" }],
  ]
  for (const [what, text, expected] of cases) {
    const found: object = recognise(text)
    for (const [name, value] of Object.entries(expected)) {
      const got = Reflect.get(found, name)
      if (value instanceof RegExp) assert.match(got, value, what)
      else assert.strictEqual(got, value, `${what}: ${JSON.stringify(found)}`)
    }
  }
})

describe("the proof of a stone", () => {
  const milk = { stone: milkStone }
  const trust = { vkey: log.vkey }
  const holds = { ok: true, checkpoint: "holds", entry: "holds", meaning: "open" }
  const other = foreignLog("key.example", stones.map(chainLinkText), [], "elsewhere.example/log")
  const under = (count: string) => ({
    ...trust,
    cosigners: policyFrom(
      `log ${log.vkey}`,
      `witness one ${first.vkey}`,
      `witness other ${second.vkey}`,
      `group some ${count} one other`,
      "quorum some",
    ),
  })

  it.each<readonly [what: string, text: string, logged: Logged, trust: Trust, expected: object]>([
    ["holds, and says that no cosigner was checked", proof, milk, trust, { ...holds, cosignatures: "open" }],
    ["needs its origin", other.proof(1), milk, { vkey: other.vkey }, { ok: false, checkpoint: "open" }],
    ["holds by origin and key", other.proof(1), milk, { vkey: other.vkey, origin: "elsewhere.example/log" }, holds],
    ["fails for another stone", proof, { stone: stoneOf("beer", 1) }, trust, { checkpoint: "holds", entry: "broken" }],
    ["fails for another place", proof.replace("index 1", "index 0"), milk, trust, { ok: false, entry: "broken" }],
    ["fails for another size", proof.replace("\n3\n", "\n4\n"), milk, trust, { checkpoint: "broken", entry: "open" }],
    ["fails where it is none", "", milk, trust, { ok: false, file: "broken" }],
    ["holds with one of two cosigners", proof, milk, under("1"), { ...holds, cosignatures: "holds" }],
    ["fails with one where two must sign", proof, milk, under("2"), { cosignatures: "broken", entry: "open" }],
  ])("%s", async (_, text, logged, believed, expected) => {
    assert.deepInclude(await statesOf(text, logged, believed), expected)
  })
})

it.effect(
  "the command that checks a proof accepts copies with line ends of Windows of all files that allow them, and names those of the proof",
  function* () {
    const folder = newFolder()
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const stone = write("stone.json", inWindows(milkStone))
    const policy = write("policy", `log ${log.vkey}\r\nquorum none\r\n`)
    const right = write("right", proof)
    for (const trust of [
      ["--vkey", `${log.vkey}\r`],
      ["--policy", policy],
    ]) {
      const held = yield* commandRun(["verify-proof", right, "--stone", stone, ...trust])
      assert.strictEqual(held.code, 0, held.stdout + held.stderr)
      const copy = write("copy", proof.replaceAll("\n", "\r\n"))
      const broken = yield* commandRun(["verify-proof", copy, "--stone", stone, ...trust])
      assert.strictEqual(broken.code, 1)
      assert.match(broken.stdout, /^BROKEN {7}file: The proof was changed by an editor: its lines end with CRLF/u)
    }
  },
)
