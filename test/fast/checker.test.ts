/** The checker of the pages: it recognises a file by its form, and checks a proof of any log line by line. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { utf8 } from "../../schema/log/Bytes.ts"
import { checkProof, type Logged } from "../../src/buyer/receipt/ProofChecks.ts"
import type { Trust } from "../../src/buyer/log/SignedCheckpoint.ts"
import { cosignerFrom, generate } from "../../src/log/Signer.ts"
import { leafOf } from "../../src/log/Tree.ts"
import { loggedIn } from "../../src/web/v2/proof/logged.ts"
import { asPasted, recognise } from "../../src/web/v2/proof/recognise.ts"
import { foreignLog } from "../lab/log/ForeignLog.ts"
import { lacking } from "../lab/log/Platform.ts"
import { policyFrom } from "../lab/log/Witnesses.ts"
import { madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"

const cosigner = (name: string, type?: Parameters<typeof generate>[1]) =>
  Result.getOrThrow(cosignerFrom(Result.getOrThrow(generate(name, type))))
const [first, second, later] = [cosigner("w1.example"), cosigner("w2.example"), cosigner("pq.example", 6)]
const log = foreignLog("logs.example/2026", ["tea", "milk", "salt"], [first, later])
const proof = log.proof(1)

const policyOf = (...lines: ReadonlyArray<string>) => policyFrom(`log ${log.vkey}`, ...lines)

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
    const { file } = await madeReceiptFile()
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
    const { file } = await madeReceiptFile()
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
  const entry = { entry: utf8("milk") }
  const holds = { ok: true, checkpoint: "holds", entry: "holds", meaning: "open" }

  it("holds by its origin and key, as bytes and as a leaf hash, and says that no witness was checked", async () => {
    const trust = { vkey: log.vkey }
    assert.deepStrictEqual(await statesOf(proof, entry, trust), { ...holds, cosignatures: "open" })
    const leaf = { leaf: Uint8Array.from(leafOf(utf8("milk"))) }
    assert.deepStrictEqual(await statesOf(proof, leaf, trust), { ...holds, cosignatures: "open" })
    const other = foreignLog("key.example", ["tea", "milk"], [], "elsewhere.example/log")
    assert.deepInclude(await statesOf(other.proof(1), entry, { vkey: other.vkey }), { ok: false, checkpoint: "open" })
    const named = { vkey: other.vkey, origin: "elsewhere.example/log" }
    assert.deepInclude(await statesOf(other.proof(1), entry, named), holds)
  })

  it("fails for another entry, place, key and checkpoint", async () => {
    const trust = { vkey: log.vkey }
    const broken: ReadonlyArray<readonly [string, Promise<object>, object]> = [
      ["another entry", statesOf(proof, { entry: utf8("beer") }, trust), { checkpoint: "holds", entry: "broken" }],
      ["another place", statesOf(proof.replace("index 1", "index 0"), entry, trust), { entry: "broken" }],
      [
        "another key",
        statesOf(proof, entry, { vkey: foreignLog("logs.example/2026", ["x"]).vkey }),
        { checkpoint: "broken", entry: "open" },
      ],
      ["another size", statesOf(proof.replace("\n3\n", "\n4\n"), entry, trust), { checkpoint: "broken" }],
      ["no proof", statesOf("", entry, trust), { file: "broken" }],
    ]
    for (const [what, states, expected] of broken) assert.deepInclude(await states, { ok: false, ...expected }, what)
  })

  it("counts the witnesses of a policy up to its threshold", async () => {
    const names = [`witness one ${first.vkey}`, `witness two ${second.vkey}`]
    const one = policyOf(...names, "group some 1 one two", "quorum some")
    assert.deepStrictEqual(await statesOf(proof, entry, { vkey: log.vkey, witnesses: one }), {
      ...holds,
      cosignatures: "holds",
    })
    const both = policyOf(...names, "group all 2 one two", "quorum all")
    assert.deepInclude(await statesOf(proof, entry, { vkey: log.vkey, witnesses: both }), {
      ok: false,
      cosignatures: "broken",
      entry: "open",
    })
  })

  it("has a line of its own for post-quantum cosignatures that this platform cannot check", async () => {
    const names = [`witness one ${first.vkey}`, `witness pq ${later.vkey}`]
    const statesUnder = (count: string) =>
      lacking("ML-DSA-44", () =>
        statesOf(proof, entry, {
          vkey: log.vkey,
          witnesses: policyOf(...names, `group some ${count} one pq`, "quorum some"),
        }),
      )
    const any = { ...holds, cosignatures: "holds", "post-quantum cosignatures": "open" }
    assert.deepStrictEqual(await statesUnder("any"), any)
    assert.deepStrictEqual(await statesUnder("all"), { ok: false, checkpoint: "open", entry: "open" })
  })
})
