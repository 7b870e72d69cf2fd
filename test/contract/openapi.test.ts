/** The document is what the contract generates, is served as it is written, and hides nothing. */
import { readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { Effect } from "effect"
import { document } from "../../src/cli/operator/OpenApi.ts"
import { ask, layer as world, World } from "../lab/Fixture.ts"

const written = readFileSync(new URL("../../schema/openapi.json", import.meta.url), "utf8")
const spec = JSON.parse(written)

interface Operation {
  readonly operationId: string
  readonly security: ReadonlyArray<unknown>
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly schema: { readonly type?: string; readonly $ref?: string }
  }>
  readonly responses: Readonly<Record<string, unknown>>
}

layer(world(), { excludeTestServices: true })("the OpenAPI document", (it) => {
  it("is fresh", () => assert.strictEqual(written, document(), "run: npm run openapi"))

  it.effect("is served", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const served = yield* ask(`${url}/openapi.json`)
      assert.strictEqual(served.status, 200)
      assert.deepStrictEqual(JSON.parse(served.text), JSON.parse(written.replaceAll("https://altar.example", url)))
      assert.strictEqual(JSON.parse(served.text).servers[0].url, url, "the served document names its own server")
      const docs = yield* ask(`${url}/docs`)
      assert.strictEqual(docs.status, 200)
      assert.include(docs.text, url, "the page asks the server it came from")
      assert.notMatch(
        docs.text.replaceAll(url, ""),
        /<(?:script|link)[^>]+(?:src|href)="https?:/u,
        "nothing is loaded from another host",
      )
    }),
  )

  it("names every header, status and code of a paid route", () => {
    const paid = spec.paths["/api/witness"].post
    const headers = paid.parameters.map((parameter: { name: string }) => parameter.name)
    assert.deepStrictEqual(headers, ["Idempotency-Key", "PAYMENT-SIGNATURE"])
    assert.isFalse(paid.parameters[0].required, "a payment-identifier id or an unpaid request needs no header")
    for (const status of ["200", "201", "202", "400", "402", "409", "413", "415", "422", "429", "500", "503"]) {
      assert.isDefined(paid.responses[status], status)
    }
    assert.isDefined(paid.responses["402"].headers["PAYMENT-REQUIRED"])
    assert.isDefined(paid.responses["201"].headers["PAYMENT-RESPONSE"])
    assert.containsAllKeys(paid.responses["202"].headers, ["Location", "Retry-After"])
    const text = JSON.stringify(spec)
    for (const code of [
      "idempotency_conflict",
      "payment_authorization_already_bound",
      "witness_ceiling_today",
      "payment_failed",
    ]) {
      assert.include(text, `"${code}"`)
    }
    assert.strictEqual(spec.components.schemas.IdempotencyKey.pattern, "^[A-Za-z0-9_-]{12,128}$")
    assert.strictEqual(spec.info.version, "0.15.0")
  })

  it("says which bodies may be left out", () => {
    const bodies = Object.entries<Record<string, { readonly requestBody?: { readonly required?: boolean } }>>(
      spec.paths,
    )
      .flatMap(([path, methods]) => Object.values(methods).map(({ requestBody }) => ({ path, requestBody })))
      .filter(({ requestBody }) => requestBody !== undefined)
    const optional = bodies.filter(({ requestBody }) => requestBody?.required === false).map(({ path }) => path)
    assert.sameMembers(optional, ["/api/acquire/{familiarId}", "/api/elements/{elementId}/collect", "/api/rooms"])
    assert.isTrue(bodies.every(({ requestBody }) => requestBody?.required !== undefined))
  })

  it.effect("quotes a request without cutting a character in half", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const refused = yield* ask(`${url}/api/field?${"a".repeat(199)}${encodeURIComponent("🪨")}`)
      assert.strictEqual(refused.status, 400)
      const { issues } = JSON.parse(refused.text)
      assert.strictEqual(issues[0].path, `${"a".repeat(199)}\ufffd`)
    }),
  )

  it("describes and exemplifies every parameter", () => {
    for (const { operationId, parameters = [] } of Object.values<Record<string, Operation>>(spec.paths).flatMap(
      (methods) => Object.values(methods),
    )) {
      for (const { description, name, schema } of parameters) {
        const named = schema.$ref === undefined ? schema : spec.components.schemas[schema.$ref.split("/").at(-1) ?? ""]
        assert.isDefined(description ?? named.description, `${operationId} ${name} has no description`)
        assert.isDefined(named.examples, `${operationId} ${name} has no example`)
      }
    }
  })

  it("takes money where it says so, and tokens for rooms alone", () => {
    const operations = Object.values<Record<string, Operation>>(spec.paths).flatMap((methods) => Object.values(methods))
    for (const operation of operations) {
      const name = operation.operationId
      const isPaid = "402" in operation.responses && name !== "reconcile"
      assert.strictEqual("x-payment-info" in operation, isPaid, name)
      const wanted = isPaid ? [{}, { x402: [] }] : "401" in operation.responses ? [{ apiKey: [] }] : []
      assert.deepStrictEqual(operation.security, wanted, name)
    }
    assert.deepInclude(spec.components.securitySchemes.x402, {
      type: "apiKey",
      in: "header",
      name: "PAYMENT-SIGNATURE",
    })
  })

  it("says the bounds of every number", () => {
    const numbers = Object.values<Record<string, Operation>>(spec.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, parameters = [] }) =>
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

  it("names, describes and exemplifies every schema", () => {
    for (const [name, schema] of Object.entries<Record<string, unknown>>(spec.components.schemas)) {
      assert.isDefined(schema["description"], `${name} has no description`)
      assert.isDefined(schema["examples"], `${name} has no example`)
    }
    assert.notInclude(written, "Encoded", "no name of our own machinery")
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    formats.default(ajv)
    ajv.addSchema(spec, "document")
    for (const [name, { examples }] of Object.entries<{ examples: ReadonlyArray<unknown> }>(spec.components.schemas)) {
      for (const example of examples) {
        const isValid = ajv.validate(`document#/components/schemas/${name}`, example)
        assert.isTrue(isValid, `the example of ${name}: ${ajv.errorsText()}`)
      }
    }
  })
})
