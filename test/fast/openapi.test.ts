/** The document is what the contract generates, and hides nothing. */
import { document as generated } from "../../src/cli/operator/OpenApi.ts"
import { document, operations, resolved } from "../lab/OpenApi.ts"
import { textOf } from "../lab/Sources.ts"
import { assert, describe, it, valuesOf } from "../lab/Suites.ts"

const written = textOf("schema/openapi.json")
const { schemas, securitySchemes } = document.components

describe("the OpenAPI document", () => {
  it("is up to date", () => assert.strictEqual(written, generated(), "run: npm run openapi"))

  it("names every header, status and code of a paid route", () => {
    const sold = operations.find(({ method, path }) => method === "POST" && path === "/api/witness")
    if (sold === undefined) return assert.fail("no paid route")
    assert.deepStrictEqual(valuesOf(sold.parameters, "name"), ["Idempotency-Key", "PAYMENT-SIGNATURE"])
    assert.isFalse(sold.parameters[0]?.required, "a payment-identifier id or an unpaid request needs no header")
    const statuses = ["200", "201", "202", "400", "402", "409", "413", "415", "422", "429", "500", "503"]
    assert.containsAllKeys(sold.responses, statuses)
    for (const [status, headers] of [
      ["402", ["PAYMENT-REQUIRED"]],
      ["201", ["PAYMENT-RESPONSE"]],
      ["202", ["Location", "Retry-After"]],
    ] as const)
      assert.containsAllKeys(sold.responses[status]?.headers ?? {}, [...headers], status)
    const text = JSON.stringify(document)
    const codes = "idempotency_conflict payment_authorization_already_bound witness_ceiling_today payment_failed"
    for (const code of codes.split(" ")) assert.include(text, `"${code}"`)
    assert.strictEqual(schemas["IdempotencyKey"]?.pattern, "^[A-Za-z0-9_-]{12,128}$")
  })

  it("marks optional bodies", () => {
    const bodies = operations.filter(({ requestBody }) => requestBody !== undefined)
    assert.sameMembers(
      bodies.filter(({ requestBody }) => requestBody?.required === false).map(({ path }) => path),
      ["/api/acquire/{familiarId}", "/api/elements/{elementId}/collect", "/api/rooms"],
    )
    assert.isTrue(bodies.every(({ requestBody }) => requestBody?.required !== undefined))
  })

  it("describes and exemplifies every parameter and schema", () => {
    for (const { operationId, parameters } of operations)
      for (const { description, name, schema } of parameters) {
        assert.isDefined(description ?? resolved(schema).description, `${operationId} ${name} has no description`)
        assert.isDefined(resolved(schema).examples, `${operationId} ${name} has no example`)
      }
    for (const [name, schema] of Object.entries(schemas)) {
      assert.isDefined(schema.description, `${name} has no description`)
      assert.isDefined(schema.examples, `${name} has no example`)
    }
    assert.notInclude(written, "Encoded", "no name of our own machinery")
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

  it("states the bounds of every number", () => {
    const numbers = operations.flatMap(({ operationId, parameters }) =>
      parameters
        .filter(({ in: place, name }) => place === "query" && /^(?:limit|from|after)$/u.test(name))
        .map(({ name, schema }) => ({ name: `${operationId} ${name}`, schema })),
    )
    assert.isAtLeast(numbers.length, 8)
    for (const { name, schema } of numbers) {
      assert.strictEqual(schema.type, "integer", name)
      assert.containsAllKeys(schema, ["minimum", "maximum", "default", "format"], name)
    }
  })
})
