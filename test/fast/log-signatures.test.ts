/** Signed checkpoints and whole proof files, as the verifier reads them and as the log's key writes them. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { base64, fromBase64, hex, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { openCheckpoint, type Trust } from "../../src/buyer/log/SignedCheckpoint.ts"
import { verifyProof } from "../../src/buyer/log/EntryProof.ts"
import { isSigned } from "../../src/buyer/log/WebCrypto.ts"
import { parseSignatureLines } from "../../schema/log/Note.ts"
import { cosignatureVerifier } from "../../src/log/Verifier.ts"
import { fromText, generate, originOf } from "../../src/log/Signer.ts"
import { leafOf, sha256 } from "../../src/log/Tree.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import { linkOf } from "../lab/buyer/ReceiptFiles.ts"
import { example, golden, mixedOrder, neumann, renamed, cosigner } from "../lab/log/Vectors.ts"

/** Runs as on a platform without algorithms of this name; an empty name means all of them. */
const lacking = <A>(name: string, run: () => Promise<A>): Promise<A> => {
  const { importKey } = crypto.subtle
  const absent = (...given: ReadonlyArray<unknown>) =>
    JSON.stringify(given[2]).includes(name)
      ? Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"))
      : Reflect.apply(importKey, crypto.subtle, given)
  Object.assign(crypto.subtle, { importKey: absent })
  return run().finally(() => Object.assign(crypto.subtle, { importKey }))
}

const { vkey } = golden
const signer = Result.getOrThrow(fromText(Redacted.make(golden.signerKey)))
const noteAt8 = golden.proofFile.slice(golden.proofFile.indexOf("\n\n") + 2)
const text8 = `${noteAt8.split("\n\n")[0] ?? ""}\n`
const bytesOf = (text: string) => fromBase64(text) ?? new Uint8Array()
const fromHex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"))

const signaturesIn = (lines: string) => {
  const found = parseSignatureLines(lines)
  return found instanceof Malformed ? [] : found
}

const faultOf = (verdict: { readonly ok: true } | { readonly ok: false; readonly fault: string }) =>
  verdict.ok ? "none" : verdict.fault

describe("the log's key", () => {
  it("signs the notes of other implementations, byte for byte", () => {
    assert.strictEqual(signer.vkey, vkey)
    for (const { root, signature, size } of golden.checkpoints) {
      const note = signer.note({ origin: golden.name, size, root: bytesOf(root), extensions: [] })
      if (signature !== undefined) {
        assert.strictEqual(note, `${golden.name}\n${size}\n${root}\n\n— ${golden.name} ${signature}\n`)
      }
    }
    assert.strictEqual(Result.getOrThrow(fromText(Redacted.make(neumann.signerKey))).vkey, neumann.vkey)
  })

  it("is generated under the log's origin", async () => {
    const made = Result.getOrThrow(generate("altar.example/log"))
    assert.notInclude(String(made), "PRIVATE")
    const fresh = Result.getOrThrow(fromText(made))
    const note = fresh.note({ origin: fresh.name, size: 1, root: new Uint8Array(32), extensions: [] })
    assert.strictEqual(faultOf(await openCheckpoint(note, { vkey: fresh.vkey })), "none")
    assert.isTrue(Result.isFailure(generate("with space")))
    assert.strictEqual(originOf("https://altar.example:8443/"), "altar.example:8443/log")
  })

  it("is rejected when its parts do not match, in words that do not quote it", () => {
    const seed = golden.signerKey.split("+").at(-1) ?? ""
    const wrong = [
      golden.signerKey.replace("dc00151b", "dc00151c"),
      golden.signerKey.replace("fixture", "other"),
    ].concat([golden.signerKey.slice(0, -4), vkey, "", golden.signerKey.replace("+Ac", "+Bc")])
    for (const text of wrong) {
      const refused = Result.flip(fromText(Redacted.make(text)))
      assert.notInclude(Result.getOrThrow(refused).message, seed.slice(4, 12))
    }
  })
})

describe("a signed checkpoint", () => {
  it("opens with its key, and with no other", async () => {
    const opened = await openCheckpoint(noteAt8, { vkey })
    assert.deepInclude(opened.ok && opened.checkpoint, { size: 8, root: bytesOf(golden.checkpoints[4]?.root ?? "") })
    const [stranger = ""] = example.note.split("\n").slice(-2)
    const under = (trust: Partial<Trust>, note = noteAt8) => openCheckpoint(note, { vkey, ...trust }).then(faultOf)
    assert.strictEqual(await under({}, noteAt8 + `${stranger}\n`.repeat(20)), "none")
    assert.strictEqual(await under({ vkey: example.vkey }), "origin")
    assert.strictEqual(await under({ origin: "elsewhere" }), "origin")
    assert.strictEqual(await under({ vkey: example.vkey }, example.note), "malformed")
    assert.strictEqual(await under({ vkey: example.vkey, origin: golden.name }), "signature")
    for (const key of [vkey.replace("dc00151b", "dc00151c"), cosigner.vkey, "nonsense"])
      assert.strictEqual(await under({ vkey: key }), "key")
    const wrong = noteAt8.slice(noteAt8.indexOf("—")).replace("3AAVG3On", "3AAVG3Oo")
    assert.strictEqual(await under({}, noteAt8 + wrong), "signature", "one of two under the log's key is wrong")
  })

  it("counts the log's cosigners", async () => {
    const cosigned = noteAt8 + cosigner.line
    const under = (note: string, quorum: number, ...vkeys: ReadonlyArray<string>) =>
      openCheckpoint(note, { vkey, cosigners: { vkeys, quorum } })
    const opened = await under(cosigned, 1, cosigner.vkey)
    assert.deepStrictEqual(opened.ok && opened.cosignatures, [
      { name: "webtessera.fixture.witness", seconds: cosigner.seconds },
    ])
    const late = cosigner.line.replace("AAAAABkGFDL", "AAAAABkGFDM")
    const alias = renamed(cosigner.vkey, "another.example/w")
    for (const [fault, verdict] of [
      ["cosignatures", under(noteAt8, 1, cosigner.vkey)],
      ["cosignatures", under(cosigned, 2, cosigner.vkey, cosigner.vkey)],
      ["cosignatures", under(cosigned + cosigner.line, 2, cosigner.vkey)],
      ["cosignatures", under(noteAt8 + late, 0, cosigner.vkey)],
      ["key", under(cosigned, 1, vkey)],
      ["key", under(cosigned, 1, cosigner.vkey, alias)],
    ] as const)
      assert.strictEqual(faultOf(await verdict), fault)
  })

  it("has the cosignature of another implementation, for its own text and time alone", () => {
    const verifier = cosignatureVerifier(cosigner.vkey)
    const [signature] = signaturesIn(cosigner.line)
    if (verifier instanceof Malformed || signature === undefined) return assert.fail("no cosignature")
    const holds = (text: string, bytes = signature.bytes) => verifier.holds(text, { ...signature, bytes })
    assert.isTrue(holds(text8))
    assert.isFalse(holds(text8.replace("\n8\n", "\n9\n")))
    for (const at of [7, 8, 71]) assert.isFalse(holds(text8, signature.bytes.with(at, 1 ^ (signature.bytes[at] ?? 0))))
    assert.isFalse(verifier.holds(text8, { ...signature, name: "another.example" }))
  })

  it("follows Go's rules for Ed25519", async () => {
    const { message, publicKey, signature } = mixedOrder
    assert.isFalse(await isSigned(fromHex(publicKey), utf8(message), fromHex(signature)))
    const [line = ""] = example.note.split("\n").slice(-2)
    const key = bytesOf(example.vkey.slice(-44)).slice(1)
    const blob = bytesOf(line.split(" ").at(-1) ?? "").slice(4)
    assert.isTrue(await isSigned(key, utf8("This is an example message.\n"), blob))
    assert.isFalse(await isSigned(key, utf8("This is an example message."), blob))
  })
})

describe("a stone's proof", () => {
  const stones: Array<Parameters<typeof verifyProof>[1]> = []
  for (let at = 1; at <= 20; at += 1) {
    const previousHash = stones.at(-1)?.chainHash ?? "0".repeat(64)
    stones.push(linkOf(previousHash, at, hex(sha256(utf8(`stone-${at}`))), "2026-11-21T00:00:00.000Z"))
  }
  const log = new MemoryLog().append(stones.map((stone) => leafOf(entryOf(stone))))
  const [first, second] = [stones[0] ?? assert.fail("no stone"), stones[1] ?? assert.fail("no stone")]
  const checkpoint = signer.note({ origin: golden.name, size: 20, root: Uint8Array.from(log.root), extensions: [] })
  const fileOf = (index: number) => proofFileText({ extra: undefined, index, hashes: log.inclusion(index), checkpoint })

  const faultWith = (index: number, stone = second) => verifyProof(fileOf(index), stone, { vkey }).then(faultOf)

  it("is valid for every stone, and for no other or changed one", async () => {
    const root = base64(log.root)
    for (const stone of stones) {
      const index = stone.sequence - 1
      const verdict = await verifyProof(fileOf(index), stone, { vkey })
      assert.deepInclude(verdict, { ok: true, origin: golden.name, index, size: 20, root })
      assert.strictEqual(await faultWith(index, stones[stone.sequence % 20]), "inclusion")
    }
    const changed = { ...second, commitment: "ab".repeat(32) }
    assert.strictEqual(await faultWith(1, changed), "stone")
    assert.strictEqual(await faultWith(1, { ...changed, chainHash: hex(sha256(entryOf(changed))) }), "inclusion")
    assert.strictEqual(await faultWith(1, { ...second, chainHash: "00" }), "stone")
  })

  it("fails with any bit of the file changed", async () => {
    const bytes = utf8(fileOf(1))
    const faults = await Promise.all(
      Array.from({ length: bytes.length * 8 }, (_, bit) => {
        const flipped = bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
        return verifyProof(new TextDecoder().decode(flipped), second, { vkey }).then(faultOf)
      }),
    )
    assert.notInclude(faults, "none")
    assert.includeMembers(faults, ["malformed", "inclusion", "origin", "signature"])
  })

  it("is undecided without the means to check it, and says what is missing", async () => {
    const verdict = await lacking("", () => verifyProof(fileOf(0), first, { vkey }))
    assert.strictEqual(faultOf(verdict), "unsupported")
    assert.match(verdict.ok ? "" : verdict.reason, /neither confirmed nor refuted: Chrome and Edge/u)
  })
})
