/** Every example of the document is true: it has the form it stands under, and what checks real answers checks it as well. */
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { Effect, Schema } from "effect"
import { recoverTypedDataAddress } from "viem"
import { Publication } from "../../schema/altar/Catalog.ts"
import { base64 } from "../../schema/log/Bytes.ts"
import { ChainEntry, ChainHead, WitnessStone } from "../../schema/altar/Witness.ts"
import { spiritOf } from "../../schema/altar/Spirit.ts"
import { Challenge, PaymentPayload, SettlementResponse } from "../../schema/payments/Payment.ts"
import { usdc } from "../../schema/payments/Usdc.ts"
import { transferTypes } from "../../schema/payments/TransferTypes.ts"
import { seal, sha256 } from "../../src/altar/Hashes.ts"
import { Items } from "../../src/altar/collectibles/Items.ts"
import { publicationHash } from "../../src/altar/collectibles/PublicationChain.ts"
import { canonicalJson } from "../../schema/payments/CanonicalJson.ts"
import { jsonOf } from "../lab/Sources.ts"
import { openCheckpoint, verifyProof, verifyReceipt, verifySegment, verifyStone } from "../../src/buyer/index.ts"
import { assert, assertSome, describe, it } from "../lab/Suites.ts"

interface Place {
  readonly where: string
  readonly pointer: string
  readonly example: unknown
}

const document: unknown = jsonOf("schema/openapi.json")

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(Object(document), "document")

const escaped = (name: string) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))

const placesIn = (value: unknown, pointer = ""): ReadonlyArray<Place> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, one]): ReadonlyArray<Place> => {
        if (name === "examples" && Array.isArray(one)) {
          return one.map((example: unknown, index) => ({ where: `${pointer}/examples/${index}`, pointer, example }))
        }
        if (name === "example" && "schema" in value) {
          return [{ where: `${pointer}/example`, pointer: `${pointer}/schema`, example: one }]
        }
        return placesIn(one, `${pointer}/${escaped(name)}`)
      })

const places = placesIn(document)

const objectsIn = (value: unknown): ReadonlyArray<object> =>
  typeof value !== "object" || value === null ? [] : [value, ...Object.values(value).flatMap(objectsIn)]

const objects = places.flatMap(({ example, where }) => objectsIn(example).map((value) => ({ value, where })))

const allOf = <A>(schema: Schema.Codec<A, unknown>) => {
  const is = Schema.is(schema)
  return objects.flatMap(({ value, where }) => (is(value) ? [{ value, where }] : []))
}

const members = (value: object) => new Map<string, unknown>(Object.entries(value))

const textsAt = (name: string) =>
  objects.flatMap(({ value, where }) => {
    const text = members(value).get(name)
    return typeof text === "string" ? [{ text, where, value }] : []
  })

const headersNamed = (name: string) =>
  places
    .filter(({ where }) => where.includes(`/${name}/schema/`) || where.includes(`/schemas/${name}/`))
    .map(({ example, where }) => ({ where, json: JSON.parse(Buffer.from(String(example), "base64").toString()) }))

const SegmentOf = Schema.Struct({
  anchor: ChainHead,
  entries: Schema.NonEmptyArray(ChainEntry),
  head: ChainHead,
  next: Schema.Null,
})

describe("every example of the document", () => {
  it("matches its schema", () => {
    assert.isAbove(places.length, 200)
    for (const { example, pointer, where } of places) {
      assert.isTrue(ajv.validate(`document#${pointer}`, example), `${where}: ${ajv.errorsText()}`)
    }
  })

  it("of a stone or a link hashes to its chainHash, and of a segment to its head", async () => {
    const links = allOf(Schema.Union([WitnessStone, ChainEntry]))
    assert.isAbove(links.length, 10)
    for (const { value, where } of links) assert.deepStrictEqual(await verifyStone(value), { ok: true }, where)
    for (const { value, where } of allOf(WitnessStone)) {
      assert.strictEqual(value.spirit, spiritOf(value.commitment), where)
      assert.include(value.verify.revealUrl, value.id, where)
    }
    const segments = allOf(SegmentOf)
    assert.isNotEmpty(segments)
    for (const { value, where } of segments) assert.isTrue((await verifySegment(value)).ok, where)
    const ends = [...links, ...allOf(Publication)].map(({ value }) => `${value.sequence} ${value.chainHash}`)
    for (const { value, where } of allOf(ChainHead)) {
      if (value.sequence > 0) assert.include(ends, `${value.sequence} ${value.chainHash}`, where)
    }
  })

  it("of sealed words hashes to the commitment beside it", () => {
    const commitments = new Set(
      ["commitment", "intentionCommitment"].flatMap((name) => textsAt(name).map(({ text }) => text)),
    )
    assert.strictEqual(commitments.size, 1, "one pair of salt and words runs through the document")
    const opened = objects.flatMap(({ value, where }) => {
      const { salt, text, words = text } = Object.fromEntries(members(value))
      return typeof salt === "string" && typeof words === "string" ? [{ where, computed: seal(salt, words) }] : []
    })
    assert.isAbove(opened.length, 1)
    for (const { computed, where } of opened) assert.isTrue(commitments.has(computed), where)
  })

  it("of a publication hashes, and shows a published manifest and artwork", async () => {
    const entries = allOf(Publication)
    assert.isAbove(entries.length, 2)
    const items = await Effect.runPromise(Effect.provide(Items, Items.layer))
    for (const { value, where } of entries) {
      assert.strictEqual(publicationHash(value, value), value.chainHash, where)
      assert.strictEqual(items.get(value.itemId)?.manifestHash, value.manifestHash, where)
    }
    const manifests = objects.filter(({ value }) => "artwork" in value && "schema" in value)
    assert.isAbove(manifests.length, 3)
    for (const { value, where } of manifests) {
      const known = [...items.values()].map(({ manifestHash }) => manifestHash)
      assert.include(known, sha256(canonicalJson(Object(value))), where)
    }
  })

  it("of the log is signed by its key, and its proof proves its stone", async () => {
    const [stone] = allOf(WitnessStone)
    const [vkey] = textsAt("vkey")
    assert.isDefined(stone)
    assert.isDefined(vkey)
    if (stone === undefined || vkey === undefined) return
    for (const { text, value, where } of textsAt("checkpoint")) {
      const opened = await openCheckpoint(text, { vkey: vkey.text })
      assert.isTrue(opened.ok, where)
      if (opened.ok) assert.strictEqual(base64(opened.checkpoint.root), members(value).get("root"), where)
    }
    const proofs = places.filter(({ example }) => String(example).startsWith("c2sp.org/tlog-proof@v1\n"))
    assert.isNotEmpty(proofs)
    for (const { example, where } of proofs) {
      assert.isTrue((await verifyProof(String(example), stone.value, { vkey: vkey.text })).ok, where)
    }
  })

  it("of a receipt file is signed, and verifies completely", async () => {
    const files = places.filter(({ where }) => where.startsWith("/components/schemas/ReceiptFile/"))
    assert.isNotEmpty(files)
    const [vkey] = textsAt("vkey")
    const key = "receipts-2026-11+6e596319+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
    for (const { example, where } of files) {
      const verdict = await verifyReceipt(JSON.stringify(example), { key, log: { vkey: vkey?.text ?? "" } })
      assert.isTrue(verdict.ok, `${where}: ${JSON.stringify(verdict.checks)}`)
      for (const name of ["signature", "claims", "record", "stone", "log", "words"])
        assertSome(verdict.checks, (check) => check.name === name && check.state === "holds", name)
    }
  })

  it("of a payment's header is an offer, its payer's signature, or its settlement", async () => {
    const offers = headersNamed("PAYMENT-REQUIRED")
    const payments = headersNamed("PaymentSignature")
    const settlements = headersNamed("PAYMENT-RESPONSE")
    assert.isTrue(offers.length > 5 && payments.length > 0 && settlements.length > 5)
    for (const { json, where } of offers) assert.isTrue(Schema.is(Challenge)(json), where)
    for (const { json, where } of settlements) assert.isTrue(Schema.is(SettlementResponse)(json), where)
    for (const { json, where } of payments) {
      const { accepted, payload } = await Schema.decodeUnknownPromise(PaymentPayload)(json)
      assert.deepEqual(json.accepted, offers[0]?.json.accepts[0], where)
      const { assetName, assetVersion } = usdc["eip155:8453"]
      const { from, nonce, to, validAfter, validBefore, value } = payload.authorization
      const hex = (text: string) => `0x${text.slice(2)}` as const
      const signer = await recoverTypedDataAddress({
        domain: { name: assetName, version: assetVersion, chainId: 8453, verifyingContract: hex(accepted.asset) },
        types: transferTypes,
        primaryType: "TransferWithAuthorization",
        message: {
          from: hex(from),
          to: hex(to),
          nonce: hex(nonce),
          value: BigInt(value),
          validAfter: BigInt(validAfter),
          validBefore: BigInt(validBefore),
        },
        signature: hex(payload.signature),
      })
      assert.strictEqual(signer, from, where)
      assert.deepInclude(accepted, { payTo: to, amount: value }, where)
    }
  })
})
