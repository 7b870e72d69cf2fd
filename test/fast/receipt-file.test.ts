/** A receipt file is believed in what its signature and hashes cover alone. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { bodyText } from "../../schema/payments/BindingRecipe.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { type ReceiptTrust, verifyReceipt } from "../../src/buyer/receipt/VerifyReceipt.ts"
import { fromText } from "../../src/log/Signer.ts"
import { jwsOf } from "../../src/payments/Receipt.ts"
import { boundNonce } from "../../src/payments/x402/verify/Offer.ts"
import { host, key, keyTextOf, log, madeReceiptFile, other, payTo, signer } from "../lab/buyer/ReceiptFiles.ts"

const trust: ReceiptTrust = { key, log: { vkey: log.vkey } }

const stateOf = async (file: object | string, by: ReceiptTrust = trust) => {
  const { checks, ok } = await verifyReceipt(typeof file === "string" ? file : JSON.stringify(file), by)
  return { ok, checks, states: Object.fromEntries(checks.map(({ name, state }) => [name, state])) }
}

const rejected =
  (state: "broken" | "open") =>
  async (what: string, file: object | string, check: string, by: ReceiptTrust = trust) => {
    const { checks, ok, states } = await stateOf(file, by)
    assert.isFalse(ok, what)
    assert.strictEqual(states[check], state, `${what}: ${JSON.stringify(checks)}`)
  }

const broken = rejected("broken")
/** The keys of the reader do not fit the file, so nothing of it was computed. */
const foreign = rejected("open")

const did = "did:web:altar.example"
const { claims, file, proofOfFirst } = madeReceiptFile()

describe("a receipt file", () => {
  it("verifies completely offline, and says what it does not cover", async () => {
    const { ok, states } = await stateOf(file)
    assert.isTrue(ok)
    const held = ["signature", "claims", "record", "binding", "stone", "log", "words"]
    assert.deepStrictEqual(states, {
      ...Object.fromEntries(held.map((name) => [name, "holds"])),
      key: "open",
      payment: "open",
    })
  })

  it("says that a date in it was not shown", async () => {
    const dated = { block: 1, time: "2020-01-01T00:00:00.000Z", says: "Sealed at the latest on 1 January 2020." }
    assert.deepInclude((await stateOf({ ...file, dated })).states, { date: "open", binding: "holds" })
  })

  it("holds with any line ends between its members", async () => {
    for (const end of ["\n", "\r\n", "\r"])
      assert.isTrue((await stateOf(`${JSON.stringify(file, null, 2)}\n`.replaceAll("\n", end))).ok)
  })

  it("proves less with fewer parts, and is still valid", async () => {
    const { body: _, log: __, ...less } = file
    const { ok, states } = await stateOf({ ...less, record: null, reveal: null }, { key })
    assert.isTrue(ok)
    const open = ["binding", "record", "stone", "words", "key"]
    assert.deepInclude(states, { signature: "holds", ...Object.fromEntries(open.map((name) => [name, "open"])) })
  })

  it("of a hidden record still proves its place in the log, and accuses no revealed words", async () => {
    const { ok, states } = await stateOf({ ...file, record: null })
    assert.isTrue(ok)
    assert.deepInclude(states, { record: "open", stone: "open", log: "holds", words: "open" })
    await broken("another stone's proof", { ...file, record: null, log: proofOfFirst }, "log")
    for (const permalink of [`${host}/cosigner/${"0".repeat(36)}`, "https://["])
      await broken(permalink, { ...file, record: null, permalink }, "claims")
  })

  it("without the proof that its reader asked for is rejected", async () => {
    const { log: _, ...less } = file
    assert.isTrue((await stateOf(less, { key })).ok)
    await broken("no proof", less, "log")
    await broken("no proof and no record", { ...less, record: null }, "log")
    const { vkey } = Result.getOrThrow(fromText(keyTextOf("elsewhere.example/log")))
    await foreign("the key of another log", file, "log", { key, log: { vkey } })
    const policy = parsePolicy(`log ${vkey}\nquorum none`)
    if (policy instanceof Malformed) return assert.fail(policy.message)
    await foreign("the policy of another log", file, "log", { key, log: { vkey: log.vkey, cosigners: policy } })
  })

  it("has one reading, and may be laid out anew", async () => {
    const text = JSON.stringify(file)
    assert.isTrue((await stateOf(JSON.stringify(file, null, 2))).ok)
    const twice = text.replace('"record":{', '"record":{"payer":"0x1111111111111111111111111111111111111111",')
    await broken("a member of the record twice", twice, "signature")
    await broken("a reveal twice", text.replace('"reveal":', '"reveal":{"text":"I confess"},"reveal":'), "signature")
  })

  it("is checked with a key whose id and type are right", async () => {
    const [name = "", id = "", bytes = ""] = key.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/u)
    assert.strictEqual(`${name}+${id}+${bytes}`, key)
    await foreign("a mistyped id", file, "signature", { key: `${name}+00000000+${bytes}` })
  })

  it("is rejected after any forgery", async () => {
    assert.isTrue((await stateOf(file)).ok)
    const signed = (change: object, by = signer, typ: string = "x402-receipt+jws", url = host) => ({
      ...file,
      receipt: jwsOf(url, by, typ, { ...claims, ...change }),
    })
    const [header = "", payload = "", signature = ""] = file.receipt.split(".")
    const part = (value: object) => Buffer.from(canonicalJson({ ...value })).toString("base64url")
    const head = { alg: "EdDSA", kid: `${did}#receipts-1`, typ: "x402-receipt+jws" }
    const withHead = (value: object) => ({ ...file, receipt: `${part(value)}.${payload}.${signature}` })
    await broken("another key of the same name", signed({}, other), "signature")
    await broken("alg none", withHead({ ...head, alg: "none" }), "signature")
    await broken("an embedded key", withHead({ ...head, jwk: {} }), "signature")
    await broken("no signature", { ...file, receipt: `${header}.${payload}.` }, "signature")
    const changed = `${header}.${part({ ...claims, payer: payTo })}.${signature}`
    await broken("a changed claim", { ...file, receipt: changed }, "signature")
    await broken("another spelling", { ...file, receipt: `${file.receipt}=` }, "signature")
    await broken("a foreign host", signed({}, signer, "x402-receipt+jws", "https://other.example"), "claims")
    await broken("a purchase elsewhere", signed({ resourceUrl: "https://other.example/api/witness" }), "claims")
    await broken("another version", signed({ version: 2 }), "signature")
    await broken("a changed record", { ...file, record: { ...file.record, payer: payTo } }, "record")
    await broken("another payer in the record", { ...file, record: { ...file.record, payer: payTo } }, "claims")
    await broken("a record with one more member", { ...file, record: { ...file.record, note: "" } }, "record")
    await broken("a stone of another place", { ...file, record: { ...file.record, sequence: 3 } }, "stone")
    await broken("another act's receipt", signed({ delivered: { ...claims.delivered, record: sha256("") } }), "record")
    const { binding } = file
    await broken("another body", { ...file, body: { commitment: "0".repeat(64) } }, "binding")
    const ofNothing = { ...file, binding: { ...binding, bodySha256: sha256("{}") }, body: {} }
    await broken("another body hash", ofNothing, "binding")
    for (const body of [{ commitment: sha256("words of an earlier day") }, {}]) {
      const early = { ...binding, bodySha256: sha256(bodyText(body)) }
      const nonce = boundNonce(early, Buffer.from(early.salt, "base64url"))
      const paidBefore = { ...signed({ delivered: { ...claims.delivered, nonce } }), body, binding: early }
      await broken("a payment that names other words", paidBefore, "binding")
    }
    await broken("another salt", { ...file, binding: { ...binding, salt: "A".repeat(22) } }, "binding")
    await broken("no binding of a marked nonce", { ...file, binding: null }, "binding")
    await broken("another permalink", { ...file, permalink: `${host}/cosigner/other` }, "claims")
    await broken("another act's name", { ...file, act: "takeIn" }, "claims")
    await broken("another act's id", signed({ delivered: { ...claims.delivered, id: "0".repeat(36) } }), "claims")
    await broken("one more member", { ...file, note: "paid twice" }, "signature")
    await broken("a truncated file", JSON.stringify(file).slice(0, -20), "signature")
    await broken("a huge file", `${JSON.stringify(file)}${" ".repeat(300_000)}`, "signature")
    const deep = `"deep":${"[".repeat(90_000)}${"]".repeat(90_000)},"id"`
    await broken("a deep file", JSON.stringify(file).replace('"id"', deep), "signature")
    await broken("nothing", "", "signature")
    await broken("null", "null", "signature")
    await broken("other words", { ...file, reveal: { ...file.reveal, text: "The heron will not return." } }, "words")
    await broken("words without salt", { ...file, reveal: { ...file.reveal, salt: null } }, "words")
    await broken("a proof of another stone", { ...file, log: proofOfFirst }, "log")
    const { vkey } = Result.getOrThrow(fromText(keyTextOf("altar.example/log")))
    await broken("another log", file, "log", { key, log: { vkey } })
  })
})
