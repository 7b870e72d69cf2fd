/** The document is what the contract generates, is served as it is written, and hides nothing. */
import { readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { document } from "../../src/cli/OpenApi.ts"
import { ask, World, layer as world } from "../support/World.ts"

const written = readFileSync(new URL("../../schema/openapi.json", import.meta.url), "utf8")
const spec = JSON.parse(written)

layer(world(), { excludeTestServices: true })("the OpenAPI document", (it) => {
  it("is fresh", () => assert.strictEqual(written, document(), "run: npm run openapi"))

  it.effect("is served", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const served = yield* ask(`${url}/openapi.json`)
      assert.strictEqual(served.status, 200)
      assert.deepStrictEqual(JSON.parse(served.text), spec)
      const docs = yield* ask(`${url}/docs`)
      assert.strictEqual(docs.status, 200)
      assert.notMatch(docs.text, /<(?:script|link)[^>]+(?:src|href)="https?:/u, "nothing is loaded from another host")
    }),
  )

  it("names every header, status and code of a paid route", () => {
    const paid = spec.paths["/api/witness"].post
    const headers = paid.parameters.map((parameter: { name: string }) => parameter.name)
    assert.deepStrictEqual(headers, ["Idempotency-Key", "PAYMENT-SIGNATURE"])
    assert.isTrue(paid.parameters[0].required)
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

  it("names, describes and exemplifies every schema", () => {
    for (const [name, schema] of Object.entries<Record<string, unknown>>(spec.components.schemas)) {
      assert.isDefined(schema["description"], `${name} has no description`)
      assert.isDefined(schema["examples"], `${name} has no example`)
    }
    assert.notInclude(written, "Encoded", "no name of our own machinery")
  })
})
