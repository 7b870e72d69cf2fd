/** What is remembered to save work has an end; who comes after it is answered the same. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { network } from "../../src/limits/Address.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"
import { encodingFor } from "../../src/platform/http/Encoding.ts"

const proxied = (address: string) =>
  ({
    headers: { "x-forwarded-for": address },
    remoteAddress: Option.some("127.0.0.1"),
  }) as unknown as HttpServerRequest.HttpServerRequest

describe("beyond what is remembered", () => {
  it.effect("a flood of addresses gets a pseudonym each, and those before it keep theirs", () =>
    Effect.gen(function* () {
      const { of } = yield* ClientAddress
      const count = 25_000
      const addresses = Array.from(
        { length: count },
        (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      )
      const first = addresses.map((address) => of(proxied(address)))
      assert.strictEqual(new Set(first).size, count)
      assert.deepStrictEqual(
        addresses.slice(0, 500).map((address) => of(proxied(address))),
        first.slice(0, 500),
      )
    }).pipe(
      Effect.provide(
        ClientAddress.layer({
          trustedProxies: [Result.getOrThrow(network("127.0.0.1"))],
          rateLimitSecret: Option.some(Redacted.make("a secret of this test alone")),
        }),
      ),
      Effect.provideService(SqlClient.SqlClient, undefined as never),
    ),
  )

  it("each spelling of Accept-Encoding is read for itself", () => {
    for (let index = 0; index < 1000; index += 1) {
      assert.strictEqual(encodingFor(`x-${index}, gzip`), "gzip")
      assert.strictEqual(encodingFor(`x-${index}, br, gzip;q=0.5`), "br")
      assert.strictEqual(encodingFor(`x-${index}`), "identity")
    }
  })
})
