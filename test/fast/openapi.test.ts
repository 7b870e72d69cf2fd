/** The OpenAPI document is what the contract generates, hides nothing, and its examples are as true as real answers. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { document as generated } from "../../src/cli/operator/OpenApi.ts"
import { Publication } from "../../schema/altar/Catalog.ts"
import { ChainEntry, ChainHead, WitnessStone } from "../../schema/altar/Witness.ts"
import { spiritOf } from "../../schema/altar/Spirit.ts"
import { Challenge, PaymentPayload, SettlementResponse } from "../../schema/payments/Payment.ts"
import { exampleOf } from "../../schema/openapi/JsonSchema.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { verify } from "../../src/buyer/index.ts"
import { openCheckpoint } from "../../src/buyer/log/SignedCheckpoint.ts"
import { base64 } from "../../schema/log/Bytes.ts"
import { document, operations, resolved } from "../lab/OpenApi.ts"
import { ajv } from "../lab/run/Contract.ts"
import { textOf } from "../lab/Sources.ts"
import { assertSome } from "../lab/Assertions.ts"

const written = textOf("schema/openapi.json")
const { schemas, securitySchemes } = document.components

describe("the OpenAPI document", () => {
  it("is small enough to be read whole", () => assert.isAtMost(Buffer.byteLength(written), 200 * 1024))

  it("is up to date", () => assert.strictEqual(written, generated(), "run: npm run openapi"))

  it("describes and exemplifies every parameter and schema", () => {
    for (const { operationId, parameters } of operations)
      for (const { description, name, schema } of parameters) {
        assert.isDefined(description ?? resolved(schema).description, `${operationId} ${name} has no description`)
        assert.isDefined(resolved(schema).examples, `${operationId} ${name} has no example`)
      }
    for (const [name, schema] of Object.entries(schemas)) {
      assert.isDefined(schema.description, `${name} has no description`)
      const hasParts = schema.properties !== undefined || schema.anyOf !== undefined
      assert.isTrue(hasParts || schema.examples !== undefined, `${name} has no example`)
    }
    assert.notInclude(written, "Encoded", "no name of our own machinery")
  })

  const patterns = new Set(
    [...written.matchAll(/"pattern": *("(?:[^"\\]|\\.)*")/gu)].map(([, text = ""]) => JSON.parse(text)),
  )

  it("has only patterns in the syntax that the languages of its readers share", () => {
    assert.isAtLeast(patterns.size, 20)
    for (const pattern of patterns) {
      assert.notMatch(pattern, /\\[pPuUkKhHvVzZAQEGRX]|\(\?|\\[1-9]|\[\^?\]|&&|\[\[|[+*?}][+]/u, pattern)
      // Go counts no further.
      for (const [, most = ""] of pattern.matchAll(/\{(?:\d+,)?(\d+)\}/gu)) assert.isAtMost(Number(most), 1000, pattern)
      assert.match(pattern, /^\^[\x20-\x7e]*\$$/u, pattern)
    }
  })

  it("has only patterns that mean the same with and without the `u` flag of JavaScript", () => {
    const texts = ["", "Wren", "0".repeat(64), "tab\there", "nul\0here", "two\nlines", "é 🪨 ١", "2026-11-21"].concat([
      "2026-11-21T09:17:02.115Z",
      "$0.01",
      "#d9a441",
      "/api/witness",
      "eip155:8453",
      "a-key-of-mine_1",
    ])
    for (const pattern of patterns)
      for (const text of texts)
        assert.strictEqual(new RegExp(pattern, "u").test(text), new RegExp(pattern).test(text), pattern)
  })

  it("requires payment and tokens only where the server does", () => {
    for (const operation of operations) {
      const name = operation.operationId
      const isPaid = "402" in operation.responses && name !== "reconcile"
      assert.strictEqual("x-payment-info" in operation, isPaid, name)
      const wanted = isPaid ? [{}, { x402: [] }] : "401" in operation.responses ? [{ apiKey: [] }] : []
      assert.deepStrictEqual(operation.security, wanted, name)
    }
    assert.deepInclude(securitySchemes["x402"], { type: "apiKey", in: "header", name: "PAYMENT-SIGNATURE" })
  })
})

interface Place {
  readonly where: string
  readonly pointer: string
  readonly example: unknown
}

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

/** A schema without an example of its own has the one that its parts compose. */
const composed = Object.entries(schemas).flatMap(([name, schema]): ReadonlyArray<Place> => {
  const pointer = `/components/schemas/${name}`
  return schema.examples === undefined
    ? [{ where: `${pointer}/examples`, pointer, example: exampleOf({ $ref: name }, schemas) }]
    : []
})

const places = [...placesIn(document), ...composed]

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

  it("of a refusal links the description of its own code", () => {
    const refusals = allOf(Schema.Struct({ ok: Schema.Literal(false), code: Schema.String, docs: Schema.String }))
    assert.isAbove(refusals.length, 30)
    for (const { value, where } of refusals) assert.strictEqual(value.docs, `/docs/errors#${value.code}`, where)
  })

  it("of a stone or a link hashes to its chainHash, and of a segment to its head", async () => {
    const links = allOf(Schema.Union([WitnessStone, ChainEntry]))
    assert.isAbove(links.length, 10)
    for (const { value, where } of links) assert.isTrue((await verify(value)).ok, where)
    for (const { value, where } of allOf(WitnessStone)) {
      assert.strictEqual(value.spirit, spiritOf(value.commitment), where)
      assert.include(value.verify.revealUrl, value.id, where)
    }
    const segments = allOf(SegmentOf)
    assert.isNotEmpty(segments)
    for (const { value, where } of segments) assert.isTrue((await verify(value)).ok, where)
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

  it("of the log is signed by its key, and its proof proves its stone", async () => {
    const [stone] = allOf(WitnessStone)
    const [vkey] = textsAt("vkey")
    if (stone === undefined || vkey === undefined) return assert.fail("no example of a stone and its log's key")
    for (const { text, value, where } of textsAt("checkpoint")) {
      const { kind, ok } = await verify(text, { log: { vkey: vkey.text } })
      assert.deepStrictEqual([kind, ok], ["checkpoint", true], where)
      const opened = await openCheckpoint(text, { vkey: vkey.text })
      assert.strictEqual(opened.ok && base64(opened.checkpoint.root), members(value).get("root"), where)
    }
    const proofs = places.filter(({ example }) => String(example).startsWith("c2sp.org/tlog-proof@v1\n"))
    assert.isNotEmpty(proofs)
    for (const { example, where } of proofs) {
      assert.isTrue((await verify(example, { of: stone.value, log: { vkey: vkey.text } })).ok, where)
    }
  })

  it("of a receipt file is signed, and verifies completely", async () => {
    const files = places.filter(({ pointer }) => pointer === "/components/schemas/ReceiptFile")
    assert.isNotEmpty(files)
    const [vkey] = textsAt("vkey")
    const key = "receipts-2026-11+6e596319+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
    for (const { example, where } of files) {
      const verdict = await verify(example, { key, log: { vkey: vkey?.text ?? "" } })
      assert.isTrue(verdict.ok, `${where}: ${JSON.stringify(verdict.checks)}`)
      for (const name of ["signature", "claims", "record", "stone", "log", "words"])
        assertSome(verdict.checks, (check) => check.name === name && check.state === "holds", name)
    }
  })

  it("of a payment's header is an offer, a payment of that offer, or its settlement", async () => {
    const offers = headersNamed("PAYMENT-REQUIRED")
    const payments = headersNamed("PaymentSignature")
    const settlements = headersNamed("PAYMENT-RESPONSE")
    assert.isTrue(offers.length > 5 && payments.length > 0 && settlements.length > 5)
    for (const { json, where } of offers) assert.isTrue(Schema.is(Challenge)(json), where)
    for (const { json, where } of settlements) assert.isTrue(Schema.is(SettlementResponse)(json), where)
    for (const { json, where } of payments) {
      const { accepted, payload } = await Schema.decodeUnknownPromise(PaymentPayload)(json)
      assert.deepEqual(json.accepted, offers[0]?.json.accepts[0], where)
      const { to, value } = payload.authorization
      assert.deepInclude(accepted, { payTo: to, amount: value }, where)
    }
  })
})
