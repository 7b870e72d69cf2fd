/** Signed checkpoints and whole proof files, as the verifier reads them and as the log's key writes them. */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { base64, fromBase64, hex, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { proofFileText } from "../../schema/log/ProofFile.ts"
import { openCheckpoint, type Trust } from "../../src/buyer/log/SignedCheckpoint.ts"
import { verifyProof } from "../../src/buyer/log/StoneProof.ts"
import { isSigned } from "../../src/buyer/log/WebCrypto.ts"
import { keyTypes, parseVerifierKey, signerKeyText } from "../../schema/log/Note.ts"
import { cosignedBytes, parseCosignature } from "../../schema/log/Cosignature.ts"
import { cosignatureVerifier } from "../../src/log/Verifier.ts"
import { cosignerFrom, fromText, generate, originOf } from "../../src/log/Signer.ts"
import { leafOf, sha256 } from "../../src/log/Tree.ts"
import { MemoryLog } from "../lab/log/MemoryLog.ts"
import { lacking } from "../lab/log/Platform.ts"
import { policyFrom } from "../lab/log/Witnesses.ts"
import { linkOf } from "../lab/buyer/ReceiptFiles.ts"
import { example, golden, mixedOrder, neumann, postQuantum, renamed, witness } from "../lab/log/Vectors.ts"

const { vkey } = golden
const signer = Result.getOrThrow(fromText(Redacted.make(golden.signerKey)))
const noteAt8 = golden.proofFile.slice(golden.proofFile.indexOf("\n\n") + 2)
const bytesOf = (text: string) => fromBase64(text) ?? new Uint8Array()
const fromHex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"))

/** The faults that a reader finds in a text, one for each bit that is changed. */
const faultsOfBits = (text: string, read: (changed: string) => Promise<Parameters<typeof faultOf>[0]>) => {
  const bytes = utf8(text)
  return Promise.all(
    Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const flipped = bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
      return read(new TextDecoder().decode(flipped)).then(faultOf)
    }),
  )
}

const faultOf = (verdict: { readonly ok: true } | { readonly ok: false; readonly fault: string }) =>
  verdict.ok ? "none" : verdict.fault

describe("the log's key", () => {
  it("signs the notes of another implementation, byte for byte", () => {
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
    for (const key of [vkey.replace("dc00151b", "dc00151c"), witness.vkey, "nonsense"])
      assert.strictEqual(await under({ vkey: key }), "key")
    const wrong = noteAt8.slice(noteAt8.indexOf("—")).replace("3AAVG3On", "3AAVG3Oo")
    assert.strictEqual(await under({}, noteAt8 + wrong), "signature", "one of two under the log's key is wrong")
  })

  it("counts the log's witnesses", async () => {
    const cosigned = noteAt8 + witness.line
    const under = (note: string, quorum: number, ...vkeys: ReadonlyArray<string>) =>
      openCheckpoint(note, { vkey, witnesses: { vkeys, quorum } })
    const opened = await under(cosigned, 1, witness.vkey)
    assert.deepStrictEqual(opened.ok && opened.cosignatures, [
      { name: "webtessera.fixture.witness", seconds: witness.seconds },
    ])
    const late = witness.line.replace("AAAAABkGFDL", "AAAAABkGFDM")
    const alias = renamed(witness.vkey, "another.example/w")
    for (const [fault, verdict] of [
      ["cosignatures", under(noteAt8, 1, witness.vkey)],
      ["cosignatures", under(cosigned, 2, witness.vkey, witness.vkey)],
      ["cosignatures", under(cosigned + witness.line, 2, witness.vkey)],
      ["cosignatures", under(noteAt8 + late, 0, witness.vkey)],
      ["key", under(cosigned, 1, vkey)],
      ["key", under(cosigned, 1, witness.vkey, alias)],
    ] as const)
      assert.strictEqual(faultOf(await verdict), fault)
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

describe("a post-quantum cosignature", () => {
  const { name, seconds } = postQuantum
  const made = cosignerFrom(
    Redacted.make(signerKeyText({ name, id: postQuantum.id, type: keyTypes.mlDsa, seed: new Uint8Array(32).fill(7) })),
  )
  const cosigner = Result.getOrThrow(made)
  const [text8 = ""] = [`${noteAt8.split("\n\n")[0] ?? ""}\n`]
  const line = cosigner.line(text8, seconds) ?? ""
  const mixed = (quorum: string) =>
    policyFrom(
      `log ${vkey}`,
      `witness old ${witness.vkey}`,
      `witness new ${cosigner.vkey}`,
      ...(quorum === "old" ? [] : [`group ${quorum} ${quorum === "both" ? "all" : "any"} old new`]),
      `quorum ${quorum}`,
    )
  const opened = (note: string, quorum: string) => openCheckpoint(note, { vkey, witnesses: mixed(quorum) })

  it("has the key, the id and the signed bytes of the reference", () => {
    const key = parseVerifierKey(cosigner.vkey)
    if (key instanceof Malformed) return assert.fail(key.message)
    assert.deepStrictEqual([hex(sha256(key.publicKey)), key.id], [postQuantum.digest, postQuantum.id])
    assert.lengthOf(cosigner.vkey, 1_784)
    const signed = cosignedBytes(key, seconds, postQuantum.text) ?? new Uint8Array()
    assert.deepStrictEqual([signed.length, hex(sha256(signed))], [119, postQuantum.signed])
    assert.isUndefined(cosignedBytes(key, 0, postQuantum.text), "no time")
    assert.isUndefined(cosignedBytes(key, seconds, postQuantum.text.replace("example.com", "e".repeat(300))))
  })

  it("differs each time, and is valid for its own text, name and time alone", () => {
    assert.notStrictEqual(cosigner.line(text8, seconds), line)
    const verifier = cosignatureVerifier(cosigner.vkey)
    if (verifier instanceof Malformed) return assert.fail(verifier.message)
    const bytes = bytesOf(line.split(" ").at(-1)?.trim() ?? "").slice(4)
    const signature = { name, id: postQuantum.id, bytes }
    assert.isTrue(verifier.holds(text8, signature))
    assert.isFalse(verifier.holds(text8.replace("\n8\n", "\n9\n"), signature))
    assert.isFalse(verifier.holds(text8, { ...signature, bytes: bytes.slice(0, 72) }), "as long as Ed25519's")
    for (const at of [7, 8, bytes.length - 1]) {
      assert.isFalse(verifier.holds(text8, { ...signature, bytes: bytes.with(at, (bytes[at] ?? 0) ^ 1) }), `${at}`)
    }
    const parts = parseCosignature(bytes)
    assert.strictEqual(!(parts instanceof Malformed) && parts.seconds, seconds)
  })

  it("counts for a policy beside Ed25519, in the library as well", async () => {
    const both = await opened(noteAt8 + witness.line + line, "both")
    assert.deepStrictEqual(both.ok && [both.cosignatures.map((by) => by.name), both.unchecked], [
      ["webtessera.fixture.witness", name],
      [],
    ])
    const wrong = noteAt8 + witness.line + (cosigner.line(text8.replace("\n8\n", "\n9\n"), seconds) ?? "")
    assert.strictEqual(faultOf(await opened(wrong, "one")), "cosignatures")
  })

  it("counts for no quorum where the platform cannot verify it, and is reported", async () => {
    const without = (note: string, quorum: string) => lacking("ML-DSA", () => opened(note, quorum))
    const cosigned = noteAt8 + witness.line + line
    const one = await without(cosigned, "one")
    assert.deepStrictEqual(one.ok && [one.cosignatures.map((by) => by.name), one.unchecked], [
      ["webtessera.fixture.witness"],
      [name],
    ])
    assert.strictEqual(faultOf(await without(cosigned, "both")), "unsupported")
    assert.strictEqual(faultOf(await without(noteAt8 + line, "old")), "cosignatures", "it is missing anywhere")
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
    const faults = await faultsOfBits(fileOf(1), (changed) => verifyProof(changed, second, { vkey }))
    assert.notInclude(faults, "none")
    assert.includeMembers(faults, ["malformed", "inclusion", "origin", "signature"])
  })

  it("is undecided without the means to check it, and says what is missing", async () => {
    const verdict = await lacking("", () => verifyProof(fileOf(0), first, { vkey }))
    assert.strictEqual(faultOf(verdict), "unsupported")
    assert.match(verdict.ok ? "" : verdict.reason, /neither confirmed nor refuted: Chrome and Edge/u)
  })
})
