/** The texts of the log: one spelling each, and nothing else is read. A policy means one thing. */
import { assert, describe, it } from "@effect/vitest"
import { base64, type Bytes, fromBase64, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { checkpointText, parseCheckpoint, parseSigned } from "../../schema/log/Checkpoint.ts"
import { parseCosignature } from "../../schema/log/Cosignature.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import {
  noteText,
  parseNote,
  parseSignerKey,
  parseVerifierKey,
  signerKeyText,
  verifierKeyText,
} from "../../schema/log/Note.ts"
import { parsePolicy, type Policy } from "../../schema/log/Policy.ts"
import { parseProofFile, proofFileText } from "../../schema/log/ProofFile.ts"
import { bundleBytes, bundlePath, parsePath, tilePath } from "../../schema/log/Tile.ts"
import { linkOf } from "../lab/buyer/ReceiptFiles.ts"
import { example, golden, neumann, renamed, cosigner } from "../lab/log/Vectors.ts"
import { cosigningKey } from "../lab/log/Cosigner.ts"
import { policyFrom } from "../lab/log/Cosigners.ts"
import { assertEach } from "../lab/Assertions.ts"

const read = <A>(parsed: A | Malformed): A => {
  if (parsed instanceof Malformed) throw new Error(parsed.message)
  return parsed
}

/** Reads a text and writes it again; undefined where it is not read. */
const again =
  <A>(parse: (text: string) => A | Malformed | undefined, write: (parsed: A) => string) =>
  (text: string) => {
    const parsed = parse(text)
    return parsed === undefined || parsed instanceof Malformed ? undefined : write(parsed)
  }

/** A text with other parts in place of the first. */
const changed = (text: string, ...changes: ReadonlyArray<readonly [from: string, to: string]>) =>
  changes.map(([from, to]) => text.replace(from, to))

const path = again(parsePath, (place) => (place.kind === "tile" ? tilePath(place) : bundlePath(place)))

const note = { golden: golden.proofFile.slice(golden.proofFile.indexOf("\n\n") + 2), example: example.note }
const line = note.example.slice(note.example.indexOf("—"))
const many = (count: number) => `text\n\n${line.repeat(count)}`

const lines = (...of: ReadonlyArray<string>) => of.map((one) => `${one}\n`).join("")
const root = golden.checkpoints[4]?.root ?? ""
const eight = lines("o", "8", root)

const { proofFile } = golden
const hash = "GUu1otW9EOXRqm/V1CmAs1bK8dpiPNmYfEv6L4F3Htc=\n"

/** Texts that are read and written as they are, and texts that are rejected. */
const spellings: ReadonlyArray<
  readonly [what: string, again: (text: string) => string | undefined, right: Array<string>, wrong: Array<string>]
> = [
  [
    "a path",
    path,
    ["tile/0/000", "tile/0/000.p/255", "tile/15/x455/667", "tile/3/x123/x456/789.p/41", "tile/0/x001/x234/067"].concat([
      "tile/63/999.p/1",
      "tile/entries/001.p/1",
    ]),
    ["tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/1000", "tile/0/x000/001", "tile/0/001/002"]
      .concat(["tile/0/x001", "tile/00/000", "tile/64/000", "tile/-1/000", "tile/0/000.p/0", "tile/0/000.p/256"])
      .concat(["tile/0/000.p/01", "tile/0/000.p/", "tile/0/000/", "/tile/0/000", "tile/0/000.p/1/", "tile/0/ 000"])
      .concat(["tile/entries/x000/000", "tile/entries/1", "tile/Entries/000", "tile//000", "tile/0/000\n", ""])
      .concat(["tile/0/x999/x999/x999/x999/x999/999", "tile/0/x000/000", "checkpoint"]),
  ],
  [
    "a signed note",
    again(parseNote, noteText),
    [note.example, note.golden + cosigner.line, `two\n\nparagraphs\n\n${cosigner.line}`, many(17)],
    [many(101), "text\n\n", "text\n", "", `text\n${line}`, `text\r\n\r\n${line}`, `te\u0001xt\n\n${line}`]
      .concat([note.example.slice(0, -1), `${note.example}\n`, `\ud800\n\n${line}`, "text\n\n— a AAAAAA==\n"])
      .concat(changed(note.example, ["— ", "- "], ["foo Uw", "foo  Uw"], ["foo Uw", "f oo Uw"], ["foo Uw", "f+oo Uw"]))
      .concat(changed(note.example, ["aQM=", "aQM"], ["aQM=", "aQN="]), "text\n\n— a AAAAAAA=\n— b\n"),
  ],
  [
    "a verifier key",
    again(parseVerifierKey, verifierKeyText),
    [golden.vkey, neumann.vkey, example.vkey, cosigner.vkey],
    ["", "a+b", `${neumann.vkey}A`, `+${neumann.vkey}`, neumann.signerKey].concat(
      changed(neumann.vkey, ["c74f20a3", "C74F20A3"], ["+ARpc", "+ERpc"], ["Peter", "Pe ter"]),
    ),
  ],
  ["a signer key", again(parseSignerKey, signerKeyText), [golden.signerKey, neumann.signerKey], [neumann.vkey]],
  [
    "a checkpoint",
    again(parseCheckpoint, checkpointText),
    [eight, lines("o", "9007199254740991", root, "more", "lines")],
    [eight.slice(0, -1), `${eight}\n`, ...changed(eight, ["8", "08"], ["8", "-8"], ["8", " 8"], ["8", "0"], ["8", ""])]
      .concat(changed(eight, ["8", "9007199254740992"], ["DI=", "DI=="], ["DI=", "DJ="], [root, "AAAA"], ["o", ""]))
      .concat(lines("o", "8")),
  ],
  [
    "a proof file",
    again(parseProofFile, proofFileText),
    [proofFile, ...changed(proofFile, ["index", "extra AAEC\nindex"])],
    [proofFile.slice(1), "", proofFile.replaceAll("\n", "\r\n")]
      .concat(changed(proofFile, ["@v1", "@v2"], ["index 5", "index 05"], ["index 5\n", ""], ["index 5", "index 5 "]))
      .concat(changed(proofFile, [hash, hash.slice(0, 40).concat("\n")], ["tc=", "td="], [hash, hash.repeat(62)]))
      .concat(changed(proofFile, ["index", "extra A\nindex"], ["index", "extra AA==\nextra AA==\nindex"])),
  ],
  [
    "base64",
    again(fromBase64, base64),
    ["AAEC/w==", ""],
    ["AAEC/w=", "AAEC/w", "AAEC/x==", "A=AA", "AAEC_w==", " AAEC", "====", "AA===="],
  ],
]

describe("the text", () => {
  it.each(spellings)("of %s has one spelling", (_, rewritten, right, wrong) => {
    for (const text of right) assert.strictEqual(rewritten(text), text)
    for (const text of wrong) assert.isUndefined(rewritten(text), JSON.stringify(text.slice(0, 120)))
  })

  it.each([
    ["a signed note", parseNote, note.example],
    ["a signed checkpoint", parseSigned, note.golden],
    ["a proof file", parseProofFile, proofFile],
  ])("of %s that an editor changed is told from another text", (_, parse, text) => {
    const copies = [
      text.replaceAll("\n", "\r\n"),
      text.replace("\n", "\r\n"),
      text.replaceAll("\n", "\r"),
      `\ufeff${text}`,
      `\ufffd\ufffd${[...text, ""].join("\0")}`,
    ]
    for (const copy of copies) {
      const parsed = parse(copy)
      assert.match(parsed instanceof Malformed ? parsed.message : "", /lines end with CRLF.*: download it again/u)
    }
  })

  it("of a proof with a space behind a line, or without an empty line, is not told that it begins otherwise", () => {
    for (const copy of [
      proofFile.replaceAll("\n", " \n"),
      proofFile.replace("\n", " \n"),
      proofFile.replaceAll("\n\n", "\n"),
    ]) {
      const parsed = parseProofFile(copy)
      assert.match(parsed instanceof Malformed ? parsed.message : "", /no space around a line.*: download it again/u)
    }
  })

  it("of a path, note and proof file means its parts", () => {
    const place = { kind: "tile", level: 3, index: 123_456_789, width: 41 }
    assert.deepStrictEqual<object | undefined>(parsePath("tile/3/x123/x456/789.p/41"), place)
    assert.deepStrictEqual(parsePath("tile/entries/001"), { kind: "entries", index: 1, width: 256 })
    assert.strictEqual(read(parseNote(`two\n\nparagraphs\n\n${cosigner.line}`)).text, "two\n\nparagraphs\n")
    const { extra } = read(parseProofFile(proofFile.replace("index", "extra AAEC\nindex")))
    assert.deepStrictEqual<Bytes | undefined>(extra, Uint8Array.of(0, 1, 2))
  })
})

describe("the bytes", () => {
  it("of a bundle are its entries, each after its length", () => {
    const long = new Uint8Array(65_535).fill(7)
    const expected = Uint8Array.of(0, 7, ...utf8("entry-0"), 0, 0, 255, 255, ...long)
    assert.deepStrictEqual<Uint8Array>(bundleBytes([utf8("entry-0"), utf8(""), long]), expected)
  })

  it("of a cosignature have a length and a time", () => {
    assert.instanceOf(parseCosignature(new Uint8Array(71)), Malformed, "71 bytes")
    assert.instanceOf(parseCosignature(new Uint8Array(72).fill(255)), Malformed, "a time beyond all")
  })

  it("of a stone's entry are its five parts with NUL between them", () => {
    const { chainHash: _, ...link } = linkOf("0".repeat(64), 1, "ab".repeat(32), "2026-11-21T00:00:01.000Z")
    const { commitment, previousHash, sequence, transaction, witnessedAt } = link
    const text = [previousHash, sequence, commitment, witnessedAt, transaction].join("\0")
    assert.deepStrictEqual(entryOf(link), utf8(text))
  })
})

const keys = Array.from({ length: 5 }, (_, at) => cosigningKey(`w${at}.example`).vkey)

const five = keys.map((vkey, at) => `witness w${at} ${vkey}${at === 0 ? " https://w0.example/x/" : ""}`)

const twoKeys = [...five, ...[5, 6].map((at) => `witness w${at} ${cosigningKey("one.example").vkey}`)]

const met = (policy: Policy, ...signed: ReadonlyArray<number>) =>
  policy.isMet(new Set(signed.map((at) => keys[at] ?? "")))

describe("a cosigner policy", () => {
  it("counts cosigners and groups of them", () => {
    const policy = policyFrom(
      "# who may be believed",
      `log ${golden.vkey} https://altar.example/log`,
      ...five,
      "",
      "group ours any w0 w1",
      "group theirs 2 w2 w3 w4",
      "group both all ours theirs",
      "quorum both",
    )
    assert.deepStrictEqual(policy.logs, [golden.vkey])
    assertEach(policy.cosigners.slice(0, 2), ({ name, url }) => [name, url], [
      ["w0", "https://w0.example/x"],
      ["w1", undefined],
    ])
    assert.isTrue(met(policy, 1, 2, 4))
    for (const signed of [[], [0, 1], [2, 3, 4], [0, 2], [1, 4]]) assert.isFalse(met(policy, ...signed), `${signed}`)
  })

  it("has line ends of any system", () => {
    const policy = parsePolicy([...five, "quorum w3", ""].join("\r\n"))
    assert.isTrue(policy instanceof Malformed ? false : met(policy, 3))
  })

  it("requires one cosigner, or none, and counts two keys of one cosigner once", () => {
    assert.isTrue(met(policyFrom(...five, "quorum none")))
    const one = policyFrom(...five, "quorum w3")
    assert.deepStrictEqual([met(one, 3), met(one, 0, 1, 2, 4)], [true, false])
    policyFrom(...twoKeys, "group w any w5 w6", "group g 2 w w0", "quorum g")
  })

  it.each([
    ["no quorum", five],
    ["two quorums", [...five, "quorum none", "quorum w0"]],
    ["an unknown quorum", [...five, "quorum w9"]],
    ["an unknown member", [...five, "group g any w0 w9", "quorum g"]],
    ["a member named twice", [...five, "group g 2 w0 w0", "quorum g"]],
    ["a member of two groups", [...five, "group g any w0 w1", "group h any w0 w2", "group i 2 g h", "quorum i"]],
    ["two keys of one cosigner that count twice", [...twoKeys, "group g 2 w5 w6", "quorum g"]],
    [
      "two keys of one cosigner in groups that count twice",
      [...twoKeys, "group g any w0 w5", "group h all g w6", "quorum h"],
    ],
    ["a member named below", [...five, "group g any h", "group h any w0", "quorum g"]],
    ["more than there are", [...five, "group g 3 w0 w1", "quorum g"]],
    ["none of them", [...five, "group g 0 w0 w1", "quorum g"]],
    ["a name twice", [...five, `witness w0 ${cosigningKey("w.example").vkey}`, "quorum none"]],
    ["a key twice", [...five, `witness w9 ${keys[0] ?? ""}`, "quorum none"]],
    ["none as a name", [`witness none ${keys[0] ?? ""}`, "quorum none"]],
    ["a key twice, under two names", [...five, `witness w9 ${renamed(keys[0] ?? "", "w9.example")}`, "quorum none"]],
    ["a log's key for a cosigner", [`witness w ${golden.vkey}`, "quorum w"]],
    ["a cosigner's key for a log", [`log ${keys[0] ?? ""}`, "quorum none"]],
    ["an unknown word", ["mirror x", "quorum none"]],
    ["a strange URL", [`witness w ${keys[0] ?? ""} file:///etc/passwd`, "quorum w"]],
  ])("with %s is rejected", (_, lines) => {
    assert.instanceOf(parsePolicy(lines.join("\n")), Malformed)
  })
})
