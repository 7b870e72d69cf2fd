/** The texts of the log: one spelling each, and nothing else is read. */
import { Option } from "effect"
import { base64, type Bytes, fromBase64, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { checkpointText, parseCheckpoint } from "../../schema/log/Checkpoint.ts"
import { cosignatureBytes, parseCosignature } from "../../schema/log/Cosignature.ts"
import { entryOf, parseEntry } from "../../schema/log/Entry.ts"
import {
  noteText,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  signerKeyText,
  verifierKeyText,
} from "../../schema/log/Note.ts"
import { parseProofFile, proofFileText } from "../../schema/log/ProofFile.ts"
import { bundleBytes, bundlePath, parseBundle, parsePath, tilePath, widthAt } from "../../schema/log/Tile.ts"
import { entryOf as actEntryOf } from "../../src/log/ActEntries.ts"
import { example, golden, neumann, witness } from "../lab/log/Vectors.ts"
import { assert, assertEach, describe, it } from "../lab/Suites.ts"

const read = <A>(parsed: A | Malformed): A => {
  if (parsed instanceof Malformed) throw new Error(parsed.message)
  return parsed
}

describe("paths of the log", () => {
  it("are spelled as tlog-tiles says", () => {
    const spelled: ReadonlyArray<readonly [string, number, number, number]> = [
      ["tile/0/000", 0, 0, 256],
      ["tile/0/000.p/255", 0, 0, 255],
      ["tile/15/x455/667", 15, 455_667, 256],
      ["tile/3/x123/x456/789.p/41", 3, 123_456_789, 41],
      ["tile/0/x001/x234/067", 0, 1_234_067, 256],
      ["tile/63/999.p/1", 63, 999, 1],
    ]
    for (const [path, level, index, width] of spelled) {
      assert.strictEqual(tilePath({ level, index, width }), path)
      assert.deepStrictEqual(parsePath(path), { kind: "tile", level, index, width })
    }
    assert.strictEqual(bundlePath({ index: 1, width: 1 }), "tile/entries/001.p/1")
    assert.deepStrictEqual(parsePath("tile/entries/001.p/1"), { kind: "entries", index: 1, width: 1 })
  })

  it("have no second spelling", () => {
    const wrong = ["tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/1000", "tile/0/x000/001", "tile/0/001/002"]
      .concat(["tile/0/x001", "tile/00/000", "tile/64/000", "tile/-1/000", "tile/0/000.p/0", "tile/0/000.p/256"])
      .concat(["tile/0/000.p/01", "tile/0/000.p/", "tile/0/000/", "/tile/0/000", "tile/0/000.p/1/", "tile/0/ 000"])
      .concat(["tile/entries/x000/000", "tile/entries/1", "tile/Entries/000", "tile//000", "tile/0/000\n", ""])
      .concat(["tile/0/x999/x999/x999/x999/x999/999", "tile/0/x000/000", "checkpoint"])
    for (const path of wrong) assert.instanceOf(parsePath(path), Malformed, path)
  })

  it("name the tiles of a tree", () => {
    assertEach([0, 1, 2, 3], (level) => [0, 1, 272, 273].map((index) => widthAt(70_000, { level, index })), [
      [256, 256, 256, 112],
      [256, 17, 0, 0],
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ])
  })
})

describe("bundles of entries", () => {
  it("survive a round trip, and fail when truncated", () => {
    const entries = [utf8("entry-0"), utf8(""), new Uint8Array(65_535).fill(7)]
    const bytes = bundleBytes(entries)
    assert.deepStrictEqual(read(parseBundle(bytes)), entries)
    for (const end of [1, 5, 10, bytes.length - 1])
      assert.instanceOf(parseBundle(bytes.subarray(0, end)), Malformed, String(end))
    assert.instanceOf(parseBundle(bundleBytes(Array.from({ length: 257 }, () => utf8("")))), Malformed, "257 entries")
  })
})

describe("signed notes", () => {
  it("survive a round trip byte for byte", () => {
    const whole = `${golden.proofFile.slice(golden.proofFile.indexOf("\n\n") + 2)}${witness.line}`
    for (const note of [example.note, whole, `two\n\nparagraphs\n\n${witness.line}`]) {
      assert.strictEqual(noteText(read(parseNote(note))), note)
    }
    assert.strictEqual(read(parseNote(`two\n\nparagraphs\n\n${witness.line}`)).text, "two\n\nparagraphs\n")
  })

  it("are parsed strictly", () => {
    const line = example.note.slice(example.note.indexOf("—"))
    const many = (count: number) => `text\n\n${line.repeat(count)}`
    assert.lengthOf(read(parseNote(many(17))).signatures, 17)
    const wrong = [many(101), "text\n\n", "text\n", "", `text\n${line}`, `text\r\n\r\n${line}`, `te\u0001xt\n\n${line}`]
      .concat([example.note.slice(0, -1), `${example.note}\n`, example.note.replace("— ", "- "), `\ud800\n\n${line}`])
      .concat([example.note.replace("foo Uw", "foo  Uw"), example.note.replace("foo Uw", "f oo Uw")])
      .concat([
        example.note.replace("foo Uw", "f+oo Uw"),
        example.note.replace("aQM=", "aQM"),
        `text\n\n— a AAAAAA==\n`,
      ])
      .concat([example.note.replace("aQM=", "aQN="), `text\n\n— a AAAAAAA=\n— b\n`])
    for (const note of wrong) assert.instanceOf(parseNote(note), Malformed, note.slice(0, 80))
  })

  it("are signed with keys that have one text", () => {
    for (const vkey of [golden.vkey, neumann.vkey, example.vkey, witness.vkey]) {
      assert.strictEqual(verifierKeyText(read(parseVerifierKey(vkey))), vkey)
    }
    for (const key of [golden.signerKey, neumann.signerKey]) {
      assert.strictEqual(signerKeyText(read(parseSignerKey(key))), key)
    }
    const wrong = [
      "",
      "a+b",
      `${neumann.vkey}A`,
      neumann.vkey.replace("c74f20a3", "C74F20A3"),
      `+${neumann.vkey}`,
    ].concat([neumann.vkey.replace("+ARpc", "+ERpc"), neumann.vkey.replace("Peter", "Pe ter"), neumann.signerKey])
    for (const vkey of wrong) assert.instanceOf(parseVerifierKey(vkey), Malformed, vkey)
    assert.instanceOf(parseSignerKey(neumann.vkey), Malformed, neumann.vkey)
  })
})

describe("checkpoints", () => {
  const root = golden.checkpoints[4]?.root ?? ""
  const text = (...lines: ReadonlyArray<string>) => lines.map((line) => `${line}\n`).join("")

  it("survive a round trip byte for byte", () => {
    for (const one of [text("o", "8", root), text("o", "9007199254740991", root, "more", "lines")]) {
      assert.strictEqual(checkpointText(read(parseCheckpoint(one))), one)
    }
  })

  it("are parsed strictly", () => {
    const wrong = [text("o", "08", root), text("o", "8", `${root}=`), text("o", "8"), text("", "8", root)]
      .concat([
        text("o", "8", root).slice(0, -1),
        text("o", "8", root, ""),
        text("o", "-8", root),
        text("o", " 8", root),
      ])
      .concat([text("o", "0", root), text("o", "9007199254740992", root), text("o", "8", "AAAA"), text("o", "", root)])
      .concat([text("o", "8", root.replace("DI=", "DJ="))])
    for (const one of wrong) assert.instanceOf(parseCheckpoint(one), Malformed, one)
  })

  it("carry the times of their cosignatures", () => {
    const [signature] = read(parseNote(`text\n\n${witness.line}`)).signatures
    const bytes = signature?.bytes ?? utf8("")
    const cosignature = read(parseCosignature(bytes))
    assert.strictEqual(cosignature.seconds, witness.seconds)
    assert.deepStrictEqual(cosignatureBytes(cosignature.seconds, cosignature.signature), bytes)
    assert.instanceOf(parseCosignature(new Uint8Array(71)), Malformed, "71 bytes")
    assert.instanceOf(parseCosignature(new Uint8Array(72).fill(255)), Malformed, "a time beyond all")
  })
})

describe("proof files", () => {
  it("survive a round trip byte for byte", () => {
    const withExtra = golden.proofFile.replace("index", "extra AAEC\nindex")
    for (const file of [golden.proofFile, withExtra])
      assert.strictEqual(proofFileText(read(parseProofFile(file))), file)
    assert.deepStrictEqual<Bytes | undefined>(read(parseProofFile(withExtra)).extra, Uint8Array.of(0, 1, 2))
  })

  it("are parsed strictly", () => {
    const { proofFile } = golden
    const hash = "GUu1otW9EOXRqm/V1CmAs1bK8dpiPNmYfEv6L4F3Htc=\n"
    const wrong = [proofFile.replace("@v1", "@v2"), proofFile.replace("index 5", "index 05"), proofFile.slice(1), ""]
      .concat([proofFile.replace("index 5\n", ""), proofFile.replace(hash, hash.slice(0, 40).concat("\n"))])
      .concat([proofFile.replace(hash, hash.replace("tc=", "td=")), proofFile.replace(hash, hash.repeat(62))])
      .concat([proofFile.replace("index", "extra A\nindex"), proofFile.replace("index 5", "index 5 ")])
      .concat([proofFile.replaceAll("\n", "\r\n"), proofFile.replace("index", "extra AA==\nextra AA==\nindex")])
    for (const file of wrong) assert.instanceOf(parseProofFile(file), Malformed, file.slice(0, 120))
  })
})

describe("the entry of an act", () => {
  it("hashes a signed receipt of any length and form, and else the receipt of the first answer", () => {
    const entryOf = (signature: string | undefined) => {
      const receipt = { format: "later", payload: "", signature }
      const header = Buffer.from(JSON.stringify({ extensions: { "offer-receipt": { info: { receipt } }, more: 1 } }))
      const parts = ["2b2b", '{"receipt":{"transaction":"0x1"}}', header.toString("base64")]
      return new TextDecoder().decode(Option.getOrThrow(actEntryOf({ parts })))
    }
    const start = "spirit-altar/act/v1\nact 2b2b\nreceipt"
    assert.strictEqual(
      entryOf("x".repeat(4_000)),
      `${start} jws 91c9568c40c8d8d1f7a1bd029d124994b3c2a8750c4e4b328ee9b1cf81151d85\ntransaction 0x1\n`,
    )
    assert.strictEqual(
      entryOf(undefined),
      `${start} json aae665e73f9bc426a2f105027c24745475fbc8378ae115df9a6df3f835a2f093\ntransaction 0x1\n`,
    )
  })
})

describe("log entries", () => {
  it("are the text of the chain hash, and survive a round trip", () => {
    const link = {
      previousHash: "0".repeat(64),
      sequence: 1,
      commitment: "ab".repeat(32),
      witnessedAt: "2026-11-21T00:00:01.000Z",
      transaction: `0x${"1".repeat(64)}`,
    }
    assert.lengthOf(entryOf(link), 223)
    assert.deepStrictEqual(parseEntry(entryOf(link)), link)
    for (const wrong of [{ sequence: 0 }, { transaction: "0x1" }, { previousHash: "0" }, { witnessedAt: "now" }]) {
      assert.instanceOf(parseEntry(entryOf({ ...link, ...wrong })), Malformed, JSON.stringify(wrong))
    }
    assert.instanceOf(parseEntry(utf8("entry-0")), Malformed, "entry-0")
  })
})

describe("base64", () => {
  it("has one spelling for the same bytes", () => {
    assert.strictEqual(base64(fromBase64("AAEC/w==") ?? utf8("")), "AAEC/w==")
    for (const text of ["AAEC/w=", "AAEC/w", "AAEC/x==", "A=AA", "AAEC_w==", " AAEC", "====", "AA===="]) {
      assert.isUndefined(fromBase64(text), text)
    }
  })
})
