/** A receipt file is believed in what its signature and hashes cover alone, and a server starts only with authorizations that hold. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Result } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { type Statement, statementData } from "../../schema/payments/KeyStatement.ts"
import { sha256 } from "../../src/altar/Hashes.ts"
import { authorizationHash } from "../../src/buyer/receipt/Authority.ts"
import { type ReceiptTrust, verifyReceipt } from "../../src/buyer/index.ts"
import { fromText } from "../../src/log/Signer.ts"
import { jwsOf, type Type } from "../../src/payments/receipts/Jws.ts"
import { withAuthorizations } from "../../src/server/ReceiptAuthorizations.ts"
import {
  host,
  key,
  keyTextOf,
  linkOf,
  log,
  madeReceiptFile,
  other,
  payTo,
  signer,
  wallet,
} from "../lab/buyer/ReceiptFiles.ts"
import { assert, describe, effect, it, valuesOf } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

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
const stranger = privateKeyToAccount(generatePrivateKey())

/** A statement that this account signed. */
const signedBy = async (change: Partial<Statement> = {}, account = wallet) => {
  const { signed } = await madeReceiptFile()
  const statement = { ...signed.statement, ...change }
  return { statement, signature: await account.signTypedData(statementData(statement)), type: "key" } as const
}

describe("a receipt file", () => {
  it("verifies completely offline, and says what it does not cover", async () => {
    const { file } = await madeReceiptFile()
    const { ok, states } = await stateOf(file)
    assert.isTrue(ok)
    const held = ["signature", "claims", "record", "stone", "log", "words", "key", "key's stone"]
    assert.deepStrictEqual(states, { ...Object.fromEntries(held.map((name) => [name, "holds"])), payment: "open" })
  })

  it("needs no server and no named key where the paid account authorized one", async () => {
    const { file } = await madeReceiptFile()
    const by = { payTo, log: { vkey: log.vkey } }
    assert.isTrue((await stateOf(file, by)).ok)
    const { authorization: _, ...without } = file
    await foreign("no authorization", without, "signature", by)
    await broken("another account", file, "signature", { ...by, payTo: `0x${"11".repeat(20)}` })
  })

  it("proves less with fewer parts, and is still valid", async () => {
    const { file } = await madeReceiptFile()
    const { authorization: _, log: __, ...less } = file
    const { ok, states } = await stateOf({ ...less, record: null, reveal: null }, { key })
    assert.isTrue(ok)
    assert.deepInclude(states, { signature: "holds", record: "open", stone: "open", words: "open", key: "open" })
  })

  it("of a hidden record still proves its place in the log, and accuses no revealed words", async () => {
    const { file } = await madeReceiptFile()
    const { ok, states } = await stateOf({ ...file, record: null })
    assert.isTrue(ok)
    assert.deepInclude(states, { record: "open", stone: "open", log: "holds", words: "open" })
    await broken("another stone's proof", { ...file, record: null, log: file.authorization.proof }, "log")
    for (const permalink of [`${host}/witness/${"0".repeat(36)}`, "https://["])
      await broken(permalink, { ...file, record: null, permalink }, "claims")
  })

  it("without the proof that its reader asked for is rejected", async () => {
    const { file } = await madeReceiptFile()
    const { authorization: _, log: __, ...less } = file
    assert.isTrue((await stateOf(less, { key })).ok)
    await broken("no proof", less, "log")
    await broken("no proof and no record", { ...less, record: null }, "log")
    const elsewhere = fromText(keyTextOf("elsewhere.example/log"))
    const { vkey } = Result.getOrThrow(elsewhere)
    await foreign("the key of another log", file, "log", { key, log: { vkey } })
    const policy = parsePolicy(`log ${vkey}\nquorum none`)
    if (policy instanceof Malformed) return assert.fail(policy.message)
    await foreign("the policy of another log", file, "log", { key, log: { vkey: log.vkey, witnesses: policy } })
  })

  it("has one reading, and may be laid out anew", async () => {
    const { file } = await madeReceiptFile()
    const text = JSON.stringify(file)
    assert.isTrue((await stateOf(JSON.stringify(file, null, 2))).ok)
    const twice = text.replace('"record":{', '"record":{"payer":"0x1111111111111111111111111111111111111111",')
    await broken("a member of the record twice", twice, "signature")
    await broken("a reveal twice", text.replace('"reveal":', '"reveal":{"text":"I confess"},"reveal":'), "signature")
  })

  it("is checked with a key whose id and type are right", async () => {
    const { file } = await madeReceiptFile()
    const [name = "", id = "", bytes = ""] = key.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/u)
    assert.strictEqual(`${name}+${id}+${bytes}`, key)
    await foreign("a mistyped id", file, "signature", { key: `${name}+00000000+${bytes}` })
  })

  it("is rejected after any forgery", async () => {
    const { claims, file } = await madeReceiptFile()
    assert.isTrue((await stateOf(file)).ok)
    const signed = (change: object, by = signer, typ: Type = "x402-receipt+jws", url = host) => ({
      ...file,
      receipt: jwsOf(url, by, typ, { ...claims, ...change }),
    })
    const [header = "", payload = "", signature = ""] = file.receipt.split(".")
    const part = (value: object) => Buffer.from(canonicalJson({ ...value })).toString("base64url")
    const head = { alg: "EdDSA", kid: `${did}#receipts-1`, typ: "x402-receipt+jws" }
    const withHead = (value: object) => ({ ...file, receipt: `${part(value)}.${payload}.${signature}` })
    await broken("another key of the same name", signed({}, other), "signature")
    await broken("an offer", signed({}, signer, "x402-offer+jws"), "signature")
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
    await broken("another permalink", { ...file, permalink: `${host}/witness/other` }, "claims")
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
    await broken("a proof of another stone", { ...file, log: file.authorization.proof }, "log")
    await broken("another log", file, "log", {
      key,
      log: { vkey: Result.getOrThrow(fromText(keyTextOf("altar.example/log"))).vkey },
    })
  })

  it("contains an authorization that the paid account signed for this key, before this act", async () => {
    const { claims, file, first, signed } = await madeReceiptFile()
    const { authorization } = file
    const by = async (change: Partial<Statement>, account = wallet) => {
      const fresh = await signedBy(change, account)
      const commitment = await authorizationHash(fresh)
      const stone = linkOf(first.previousHash, 1, commitment, first.witnessedAt)
      return { ...file, authorization: { ...authorization, ...fresh, stone: { ...authorization.stone, ...stone } } }
    }
    await broken("a stranger's signature", await by({}, stranger), "key")
    await broken("a stranger's statement", await by({ payTo: `eip155:8453:${stranger.address}` }, stranger), "key")
    await broken("another chain", await by({ payTo: `eip155:1:${payTo}` }), "key")
    await broken("another key", await by({ jwk: { ...signed.statement.jwk, x: "A".repeat(43) } }), "key")
    await broken("another host", await by({ did: "did:web:other.example" }), "key")
    await broken("a later start", await by({ notBefore: "2026-11-22T00:00:00.000Z" }), "key")
    const stone = { ...authorization.stone, commitment: "ab".repeat(32) }
    await broken("another stone", { ...file, authorization: { ...authorization, stone } }, "key's stone")
    const early = jwsOf(host, signer, "x402-receipt+jws", { ...claims, issuedAt: claims.issuedAt - 200_000 })
    await broken("a receipt before it", { ...file, receipt: early }, "key's stone")
    const contract = { ...file, authorization: { ...authorization, type: "contract" } }
    const { states } = await stateOf(contract)
    assert.strictEqual(states["key"], "open", "a contract's signature needs a node")
    assert.isFalse((await stateOf(contract, { payTo, log: { vkey: log.vkey } })).ok, "nothing trusts its key")
  })
})

const started = Effect.fnUntraced(function* (text: string) {
  const authorizationsFile = join(newFolder(), "authorizations.json")
  yield* Effect.promise(() => writeFile(authorizationsFile, text))
  const receipts = { current: signer, retired: [], authorizationsFile }
  return yield* withAuthorizations({ payments: [], publicUrl: host, receipts })
}, Effect.scoped)

describe("a file of authorizations", () => {
  const stone = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
  const stated = async (change?: Partial<Statement>, by = wallet) => ({ ...(await signedBy(change, by)), stone })
  const jwk = { kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const

  effect("is accepted when each statement is signed by its account", function* () {
    const read = yield* started(JSON.stringify([yield* Effect.promise(() => stated())]))
    assert.deepStrictEqual(valuesOf(read?.authorizations ?? [], "stone"), [stone])
  })

  effect.each<readonly [what: string, made: () => Promise<object>, says: RegExp]>([
    ["a statement for another host", () => stated({ did: "did:web:other.example" }), /other\.example.*PUBLIC_URL/u],
    ["an unknown key", () => stated({ kid: `${did}#receipts-9` }), /receipts-9 is neither in RECEIPT_KEY/u],
    ["another key under the name", () => stated({ jwk }), /neither in RECEIPT_KEY/u],
    ["another wallet's signature", () => stated({}, stranger), /is not signed by/u],
    ["no stone", () => signedBy(), /JSON list/u],
    ["a member too many", async () => ({ ...(await stated()), more: 1 }), /JSON list/u],
  ])("is rejected with %s", function* ([, made, says]) {
    const { message } = yield* Effect.flip(started(JSON.stringify([yield* Effect.promise(made)])))
    assert.match(message, /^RECEIPT_AUTHORIZATIONS is wrong: /u)
    assert.match(message, says)
  })
})
