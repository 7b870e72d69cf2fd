/** The document is what the contract generates, and hides nothing. */
import { document as generated } from "../../src/cli/operator/OpenApi.ts"
import { document, operations, resolved } from "../lab/OpenApi.ts"
import { textOf } from "../lab/Sources.ts"
import { assert, describe, it } from "../lab/Suites.ts"

const written = textOf("schema/openapi.json")
const { schemas, securitySchemes } = document.components

describe("the OpenAPI document", () => {
  it("is up to date", () => assert.strictEqual(written, generated(), "run: npm run openapi"))

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
})
