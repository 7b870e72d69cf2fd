/** What is remembered to save work has an end; who comes after it is answered the same. */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { network } from "../../src/limits/Address.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"

const proxied = (address: string) =>
  ({
    get headers() {
      return { "x-forwarded-for": address }
    },
    remoteAddress: Option.some("127.0.0.1"),
  }) as unknown as HttpServerRequest.HttpServerRequest

const addresses = ClientAddress.layer({
  trustedProxies: [Result.getOrThrow(network("127.0.0.1"))],
  rateLimitSecret: Option.some(Redacted.make("a secret of this test alone")),
}).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, undefined as never)))

/** How often `of` looks at the head of a request: once to know it again, and more often to make its pseudonym. */
const looks = (of: (request: HttpServerRequest.HttpServerRequest) => string, address: string) => {
  const request = proxied(address)
  const head = vi.spyOn(request, "headers", "get")
  of(request)
  return head.mock.calls.length
}

describe("beyond what is remembered", () => {
  it.effect("a flood of addresses gets a pseudonym each, and those before it keep theirs", () =>
    Effect.gen(function* () {
      const { of } = yield* ClientAddress
      const count = 25_000
      const flood = Array.from(
        { length: count },
        (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      )
      const first = flood.map((address) => of(proxied(address)))
      assert.strictEqual(new Set(first).size, count)
      assert.deepStrictEqual(
        flood.slice(0, 500).map((address) => of(proxied(address))),
        first.slice(0, 500),
      )
    }).pipe(Effect.provide(addresses)),
  )

  it.effect("10,000 pseudonyms are known again, and with one more all are made anew", () =>
    Effect.gen(function* () {
      const { of } = yield* ClientAddress
      assert.isAbove(looks(of, "11.0.0.1"), 1)
      for (let index = 1; index < 10_000; index += 1) of(proxied(`10.0.${index >> 8}.${index & 255}`))
      assert.strictEqual(looks(of, "11.0.0.1"), 1)
      of(proxied("11.0.0.2"))
      assert.isAbove(looks(of, "11.0.0.1"), 1)
    }).pipe(Effect.provide(addresses)),
  )
})
