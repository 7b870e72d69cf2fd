/** The checker of the pages: it recognises a file by its form, and checks a proof of any log line by line. */
import { assert, describe, it } from "@effect/vitest"
import { utf8 } from "../../schema/log/Bytes.ts"
import { checkProof, type Logged } from "../../src/buyer/receipt/ProofChecks.ts"
import type { Trust } from "../../src/buyer/log/SignedCheckpoint.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { loggedIn } from "../../src/web/v2/proof/logged.ts"
import { asPasted, recognise } from "../../src/web/v2/proof/recognise.ts"
import { foreignLog } from "../lab/log/ForeignLog.ts"
import { cosignerOf } from "../lab/log/Witness.ts"
import { policyFrom } from "../lab/log/Witnesses.ts"
import { madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"

const [first, second] = [cosignerOf("w1.example"), cosignerOf("w2.example")]
const log = foreignLog("logs.example/2026", ["tea", "milk", "salt"], [first])
const proof = log.proof(1)

const statesOf = async (
  text: string,
  logged: Logged,
  trust: Trust,
): Promise<{ readonly [name: string]: string | boolean }> => {
  const { checks, ok } = await checkProof(text, logged, trust)
  return { ok, ...Object.fromEntries(checks.map(({ name, state }) => [name, state])) }
}

describe("a dropped file", () => {
  it("is recognised as a receipt, a proof, or another kind", async () => {
    const { file } = madeReceiptFile()
    const receipt = JSON.stringify(file)
    const cases: ReadonlyArray<readonly [what: string, text: string, expected: object]> = [
      ["a receipt file", receipt, { kind: "receipt", act: file.act, kid: "did:web:altar.example#receipts-1" }],
      ["a proof", proof, { kind: "proof", origin: "logs.example/2026", index: 1, size: 3 }],
      ["a pasted proof", asPasted(`\n  ${proof.trim()}  `), { kind: "proof", index: 1 }],
      ["nothing", asPasted(" \n "), { word: "Empty." }],
      ["bytes", "\u{fffd}PNG\0", { word: "No text." }],
      ["a film", "x".repeat(1_000_001), { word: "Too large." }],
      ["a page", "<!doctype html><html>", { word: "Neither a receipt nor a proof." }],
      ["sealed words", `{"kind":"spirit-altar-sealed-words","words":[]}`, { word: "Your sealed words." }],
      ["a record", JSON.stringify(file.record), { word: "No receipt file." }],
      ["a list", "[1]", { word: "No receipt file." }],
      ["a later format", receipt.replace("/v1", "/v2"), { word: "A damaged receipt file." }],
      ["half a receipt file", receipt.slice(0, -20), { word: "A damaged receipt file." }],
      ["a receipt file with one more member", JSON.stringify({ ...file, note: 1 }), { says: /note/u }],
      ["a receipt of another algorithm", JSON.stringify({ ...file, receipt: "a.b.c" }), { kind: "unknown" }],
      ["deep JSON", `{"a":${"[".repeat(200_000)}`, { kind: "unknown" }],
      ["a checkpoint", log.checkpoint, { word: "A checkpoint." }],
      ["a later proof", proof.replace("@v1", "@v2"), { word: "A damaged proof." }],
      ["a proof without its checkpoint", proof.slice(0, proof.indexOf("\n\n") + 2), { word: "A damaged proof." }],
      ["a proof with a short hash", proof.replace(/=\n/u, "\n"), { word: "A damaged proof." }],
      ["a proof with line ends of Windows", proof.replaceAll("\n", "\r\n"), { word: "A damaged proof." }],
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

  it("needs an entry in one of four forms, and the page names the missing one", async () => {
    const { file } = madeReceiptFile()
    const { id: _, payer: __, permalink: ___, ...stone } = file.record
    for (const text of [file.record, { stone: file.record }, file].map((one) => JSON.stringify(one)))
      assert.deepStrictEqual(await loggedIn("stone", text, undefined), { stone })
    assert.deepStrictEqual(await loggedIn("stone", "", new File([JSON.stringify(file)], "a.json")), { stone })
    assert.deepStrictEqual(await loggedIn("text", "milk", undefined), { entry: utf8("milk") })
    assert.deepStrictEqual(await loggedIn("file", "", new File(["milk"], "a.bin")), { entry: utf8("milk") })
    const hash = Buffer.from(leafOf(utf8("milk")))
    for (const text of [hash.toString("hex"), hash.toString("base64"), ` ${hash.toString("hex").toUpperCase()} `])
      assert.deepStrictEqual(await loggedIn("leaf", text, undefined), { leaf: Uint8Array.from(hash) })
    const { record } = file
    for (const [kind, text, says] of [
      ["stone", "", /Give the stone/u],
      ["stone", "{", /is not JSON/u],
      ["stone", "{}", /does not hold one stone/u],
      ["stone", JSON.stringify({ stone: record, record }), /does not hold one stone/u],
      ["stone", JSON.stringify({ ...record, sequence: "2" }), /sequence/u],
      ["text", "", /Give the entry/u],
      ["file", "milk", /Choose the file/u],
      ["leaf", "ab", /64 hexadecimal digits/u],
    ] as const) {
      const error: unknown = await loggedIn(kind, text, undefined).catch((caught: unknown) => caught)
      assert.match(String(error), says, `${kind} ${text}`)
    }
  })
})

describe("the proof of a foreign log", () => {
  const milk = { entry: utf8("milk") }
  const trust = { vkey: log.vkey }
  const holds = { ok: true, checkpoint: "holds", entry: "holds", meaning: "open" }
  const other = foreignLog("key.example", ["tea", "milk"], [], "elsewhere.example/log")
  const under = (count: string) => ({
    ...trust,
    witnesses: policyFrom(
      `log ${log.vkey}`,
      `witness one ${first.vkey}`,
      `witness other ${second.vkey}`,
      `group some ${count} one other`,
      "quorum some",
    ),
  })

  it.each<readonly [what: string, text: string, logged: Logged, trust: Trust, expected: object]>([
    ["holds, and says that no witness was checked", proof, milk, trust, { ...holds, cosignatures: "open" }],
    ["holds for a leaf hash", proof, { leaf: Uint8Array.from(leafOf(milk.entry)) }, trust, holds],
    ["needs its origin", other.proof(1), milk, { vkey: other.vkey }, { ok: false, checkpoint: "open" }],
    ["holds by origin and key", other.proof(1), milk, { vkey: other.vkey, origin: "elsewhere.example/log" }, holds],
    ["fails for another entry", proof, { entry: utf8("beer") }, trust, { checkpoint: "holds", entry: "broken" }],
    ["fails for another place", proof.replace("index 1", "index 0"), milk, trust, { ok: false, entry: "broken" }],
    ["fails for another size", proof.replace("\n3\n", "\n4\n"), milk, trust, { checkpoint: "broken", entry: "open" }],
    ["fails where it is none", "", milk, trust, { ok: false, file: "broken" }],
    ["holds with one of two witnesses", proof, milk, under("1"), { ...holds, cosignatures: "holds" }],
    ["fails with one where two must sign", proof, milk, under("2"), { cosignatures: "broken", entry: "open" }],
  ])("%s", async (_, text, logged, believed, expected) => {
    assert.deepInclude(await statesOf(text, logged, believed), expected)
  })
})
