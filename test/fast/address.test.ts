/** The address a request is counted by: forwarding headers from trusted proxies alone, IPv6 by its /64, and its pseudonym. */
import { assert, describe, it, vi } from "../lab/It.ts"
import { Effect, Layer, Option, Result } from "effect"
import { Headers, type HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { addressOf, network } from "../../src/limits/Address.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"

const trusted = ["10.0.0.0/8", "127.0.0.1", "fd00::/8"].map((text) => Result.getOrThrow(network(text)))

const seen = (peer: string, headers: Record<string, string> = {}, proxies = trusted) =>
  addressOf({ remoteAddress: Option.some(peer), headers: Headers.fromInput(headers) }, proxies)

describe("the client address of a request", () => {
  it("is the socket's without trusted proxies, whatever the headers claim", () => {
    const headers = { "x-forwarded-for": "6.6.6.6", forwarded: "for=6.6.6.6" }
    assert.strictEqual(seen("203.0.113.9", headers, []), "203.0.113.9")
    assert.strictEqual(seen("127.0.0.1", headers, []), "127.0.0.1")
    assert.strictEqual(seen("203.0.113.9", headers), "203.0.113.9")
  })

  it.each([
    ["one hop", "198.51.100.7", "198.51.100.7"],
    ["a forged hop on the left", "6.6.6.6, 198.51.100.7", "198.51.100.7"],
    ["a forged trusted hop on the left", "10.0.0.1, 198.51.100.7", "198.51.100.7"],
    ["trusted hops on the right", "6.6.6.6, 198.51.100.7, 10.0.0.9, 127.0.0.1", "198.51.100.7"],
    ["only trusted hops", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["a port", "198.51.100.7:4711", "198.51.100.7"],
    ["IPv6 in brackets with a port", "[2001:db8:1:2:3:4:5:6]:443", "2001:db8:1:2::/64"],
    ["IPv6 in brackets", "[2001:db8:1:2::1]", "2001:db8:1:2::/64"],
    ["IPv4 in IPv6", "::ffff:198.51.100.7", "198.51.100.7"],
    ["spaces and tabs", "\t198.51.100.7 ", "198.51.100.7"],
    ["no address at all", "unknown", "10.0.0.1"],
    ["no address behind a trusted hop", "garbage, 10.0.0.2", "10.0.0.2"],
    ["an address behind garbage", "6.6.6.6, garbage", "10.0.0.1"],
    ["an empty header", "", "10.0.0.1"],
    ["empty hops", "6.6.6.6,,", "10.0.0.1"],
    ["an overlong number", "198.51.100.777", "10.0.0.1"],
    ["an octal spelling", "0306.063.0144.07", "10.0.0.1"],
  ])("is read from X-Forwarded-For of a trusted proxy: %s", (_, header, expected) => {
    assert.strictEqual(seen("10.0.0.1", { "x-forwarded-for": header }), expected)
  })

  it.each([
    ["one hop", "for=198.51.100.7", "198.51.100.7"],
    ["other parameters", "proto=https;For=198.51.100.7;by=10.0.0.1", "198.51.100.7"],
    ["a quoted IPv6 with a port", 'for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe:0::/64"],
    ["several hops", "for=6.6.6.6, for=198.51.100.7;proto=http, for=10.0.0.2", "198.51.100.7"],
    ["a comma inside quotes", 'for=198.51.100.7;ext="a,for=6.6.6.6"', "198.51.100.7"],
    ["a quote inside quotes", 'for=198.51.100.7;ext="a\\",for=6.6.6.6"', "198.51.100.7"],
    ["a hidden client", "for=_hidden, for=10.0.0.2", "10.0.0.2"],
    ["an unknown client", "for=unknown", "10.0.0.1"],
    ["a hop that names nobody", "for=6.6.6.6, proto=https", "10.0.0.1"],
    ["nothing", ";;,", "10.0.0.1"],
  ])("is read from Forwarded of a trusted proxy: %s", (_, header, expected) => {
    assert.strictEqual(seen("10.0.0.1", { forwarded: header }), expected)
  })

  it("is the proxy's own when the two headers disagree", () => {
    const both = (one: string, other: string) => seen("10.0.0.1", { "x-forwarded-for": one, forwarded: `for=${other}` })
    assert.strictEqual(both("198.51.100.7", "198.51.100.7"), "198.51.100.7")
    assert.strictEqual(both("198.51.100.7", "6.6.6.6"), "10.0.0.1")
  })

  it("is read from no header longer than a proxy's, and from no hop longer than an address", () => {
    const long = `for=6.6.6.6;ext="${"a".repeat(32_000)}"`
    const quotes = '"'.repeat(32_000)
    for (const header of [long, quotes]) {
      assert.strictEqual(seen("10.0.0.1", { forwarded: header }), "10.0.0.1")
      // A header padded beyond its limit must not leave the other one as the only source.
      assert.strictEqual(seen("10.0.0.1", { forwarded: header, "x-forwarded-for": "198.51.100.7" }), "10.0.0.1")
    }
    assert.strictEqual(seen("10.0.0.1", { "x-forwarded-for": `${long}, 198.51.100.7` }), "198.51.100.7")
    assert.strictEqual(seen("10.0.0.1", { "x-forwarded-for": `fe80::1%${"a".repeat(200)}` }), "10.0.0.1")
  })

  it("is shared by an IPv6 /64, differs for the next /64, and is IPv4 for IPv4 in IPv6", () => {
    assert.strictEqual(seen("2001:db8:1:2::1"), seen("2001:db8:1:2:ffff:ffff:ffff:ffff"))
    assert.notStrictEqual(seen("2001:db8:1:2::1"), seen("2001:db8:1:3::1"))
    assert.strictEqual(seen("::ffff:203.0.113.9"), "203.0.113.9")
    assert.strictEqual(seen("fe80::1%eth0"), "fe80:0:0:0::/64")
    assert.strictEqual(seen("::ffff:10.0.0.1", { "x-forwarded-for": "198.51.100.7" }), "198.51.100.7")
    assert.strictEqual(seen("fd00::1", { "x-forwarded-for": "198.51.100.7" }), "198.51.100.7")
    assert.strictEqual(addressOf({ remoteAddress: Option.none(), headers: Headers.empty }, trusted), "unknown")
  })

  it("trusts addresses and CIDRs, and the configuration rejects anything else", () => {
    for (const text of ["10.0.0.1/33", "10.0.0", "example.com", "*", "10.0.0.0-10.0.0.9", "loopback"]) {
      assert.isTrue(Result.isFailure(network(text)), text)
    }
  })
})

const proxied = (address: string) =>
  ({
    get headers() {
      return { "x-forwarded-for": address }
    },
    remoteAddress: Option.some("127.0.0.1"),
  }) as unknown as HttpServerRequest.HttpServerRequest

const addresses = ClientAddress.layer({
  trustedProxies: [Result.getOrThrow(network("127.0.0.1"))],
}).pipe(
  Layer.provide(Layer.succeed(SqlClient.SqlClient, (() => Effect.succeed([{ secret: "of this test" }])) as never)),
)

it.effect("10,000 pseudonyms are remembered, and one more clears them all and changes none", () =>
  Effect.gen(function* () {
    const { of } = yield* ClientAddress
    /** How often the request's headers were read for its pseudonym. */
    const looks = (address: string) => {
      const request = proxied(address)
      const head = vi.spyOn(request, "headers", "get")
      return { pseudonym: of(request), times: head.mock.calls.length }
    }
    const first = looks("11.0.0.1")
    for (let index = 1; index < 10_000; index += 1) of(proxied(`10.0.${index >> 8}.${index & 255}`))
    assert.deepStrictEqual(looks("11.0.0.1"), { ...first, times: 1 })
    of(proxied("11.0.0.2"))
    assert.deepStrictEqual(looks("11.0.0.1"), first)
    assert.isAbove(first.times, 1)
  }).pipe(Effect.provide(addresses)),
)
