/** Every route of the document meets hostile input: a clear 4xx with a code, never a 5xx, and nothing stored. */
import { connect } from "node:net"
import { type IncomingMessage, request } from "node:http"
import { text as textOf } from "node:stream/consumers"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { faultsOf } from "../lab/run/Contract.ts"
import { newCommitment, newKey, realClock, TestServer, world } from "../lab/Fixture.ts"
import { type Operation, operations } from "../lab/OpenApi.ts"
import { patience } from "../lab/Patience.ts"
import { from, loopback, newAddress } from "../lab/server/Rooms.ts"

/** All bytes until the other side disconnects, or is silent for half a second. */
const exchange = (port: number, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve) => {
    const parts: Array<Buffer> = []
    const socket = connect(port, "127.0.0.1")
    socket.setNoDelay(true).setTimeout(500, () => socket.destroy())
    socket.on("error", () => socket.destroy()).on("data", (part) => parts.push(part))
    socket.on("close", () => resolve(Buffer.concat(parts)))
    socket.end(bytes)
  })

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/u)

const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`

/** In place of a value of a body, as JSON text: some of it no JSON at all. */
const values: ReadonlyArray<string> = [
  ...words('null true 0 -0 -1 1e999 9007199254740993 0.1e-400 NaN "" [] {} [[[[[[[[[[1]]]]]]]]]] {"then":1}'),
  "1".repeat(400),
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud83d"',
  '"\\ufeff"',
  '"\u202eabc"',
  '"\u{1f56f}\ufe0f\u200d\u{1f525}"',
  '"Z\u0351\u036b\u0343\u036a\u0302\u036b"',
  `"${"a".repeat(5000)}"`,
  `"${"\u{1f409}".repeat(1100)}"`,
  `"${"\\u0041".repeat(700)}"`,
  '"\' OR 1=1;--"',
  '"$(id)`id`{{7*7}}${7*7}<script>"',
  '"%00%ff"',
  '"\t\n"',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"ok":true}}}',
  '{"toString":1,"valueOf":1,"hasOwnProperty":1}',
  '{"toJSON":1,"_tag":"Success","_id":"Effect"}',
  deep(50),
  `[${"0,".repeat(3000)}0]`,
]

/** Requests whose bytes are no HTTP, or lie about their length, beside those whose answers `cross-origin` knows. */
const broken: ReadonlyArray<string> = [
  "GET\r\n\r\n",
  "get / http/1.1\r\nhost: a\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET  /  HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET http:// HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET http://evil.example/api/spirits HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET //evil.example/api/spirits HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET ?limit=1 HTTP/1.1\r\nhost: a\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
  "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\na\u0000b: c\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n",
  `GET /api/spirits HTTP/1.1\r\nhost: a\r\n${"x: y\r\n".repeat(3000)}\r\n`,
  `GET /${"a".repeat(33_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  `POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n{}GET / HTTP/1.1\r\nhost: a\r\n\r\n",
  "POST /api/rooms HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999\r\n\r\n{}",
]

/** The paths outside of the contract, and what replaces their names. */
const pages = words(`
  / // /// //a:99999/ //[/ /v2 /v2/mine /v2/acts?q=%00 /v2/acts?q=a%00b /v2/acts?q=%E2%80%A8 /v2/acts?q=heron
  /v2/acts?kind=%00&spirit=__proto__&wallet=%00&before=%00 /v2/acts?kind=constructor /v2/wallets/%00
  /v2/wallets/0x${"g".repeat(40)} /v2/stone?spirit=%00 /art/spirits /art/spirits/moss-hare.svg
  /art/spirits/moss-hare.svg/x /art/spirits/moss-hare.svg%2Fx /style/icon.svg/x /style/icon.svg%2Fx
  /style/icon%2Esvg/x /art/%ff /art/%00 /art/${"x".repeat(256)} /${"x".repeat(256)} /art/spirits/${"%C3%A4".repeat(100)}
  /openapi.json /llms.txt /docs /mcp /signals /metrics
  /.well-known/x402 /.well-known/mcp/server-card.json /log/checkpoint /log/tile/0/000 /log/tile/0/x999/000.p/255
  /art/../../package.json /art/%2e%2e/%2e%2e/package.json /web/nothing.js /feed.xml /robots.txt /favicon.ico
`)

/** The room's refusals and the monitors' routes have tests of their own. */
const elsewhere = ["/api/rooms", "/api/health", "/livez", "/readyz"]

const altar = operations.filter(({ path }) => !elsewhere.some((root) => path.startsWith(root)))

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const known: Readonly<Record<string, string>> = {
  familiarId: "moss-hare",
  elementId: "beeswax",
  witnessId: id,
  candleId: id,
  actId: id,
  idempotencyKey: "a-key-nobody-used",
}

const none = Buffer.alloc(0)

interface Refusal {
  readonly status: number
  readonly text: string
  readonly faults: ReadonlyArray<string>
}

/** Paths as they are; `fetch` would normalize them first. */
const raw = (url: string, method: string, path: string, headers: Record<string, string>, body: Buffer = none) =>
  Effect.promise(async (): Promise<Refusal> => {
    const { hostname: host, port } = new URL(url)
    // From an address of its own, so that no limit stands before the fault.
    const all = { ...from(newAddress()), ...headers, "content-length": body.length }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request({ host, port, method, path, headers: all, agent: false, timeout: patience(30) }, resolve)
        .on("error", reject)
        .end(body)
    })
    const [status, text] = [answer.statusCode ?? 0, await textOf(answer)]
    const heard = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
    return { status, text, faults: faultsOf({ method, url: `${url}${path}`, status, headers: heard, body: text }) }
  })

const members = ["commitment", "intentionCommitment", "agentName", "dedication", "reason", "salt", "text", "words"]

const [json, form] = ["application/json", "application/x-www-form-urlencoded"]

/** Bodies no route accepts; each fails for another reason, and some with a status of their own. */
const bodies: ReadonlyArray<readonly [what: string, body: Buffer, type?: string, status?: number]> = [
  ...[
    ...values.filter((value) => !value.startsWith("{")),
    ...["1", "{}", '"\\u0000"', '"\\ud800"'].map(
      (value) => `{${members.map((name) => `"${name}":${value}`).join(",")}}`,
    ),
    '{"a":',
    `{"commitment":"${newCommitment()}","unknown":1}`,
    '{"__proto__":{"commitment":"x"},"agentName":"\\u0000"}',
    `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
  ].map((text) => [text.slice(0, 60), Buffer.from(text)] as const),
  ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
  ["a form", Buffer.from("commitment=x"), form, 415],
  ["a megabyte", Buffer.from(" ".repeat(1024 * 1024)), json, 413],
]

const stored = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql,
  ) => sql`SELECT (SELECT count(*) FROM payment_attempts) AS attempts, (SELECT count(*) FROM payment_claims) AS claims,
    (SELECT count(*) FROM payment_pools) AS pools, (SELECT count(*) FROM reveals) AS reveals`,
)

const refuses = (what: string, operation: Operation, answer: Refusal) => {
  assert.isTrue(
    answer.status >= 400 && answer.status < 500 && answer.status !== 429,
    `${what}: ${answer.status} ${answer.text.slice(0, 200)}`,
  )
  const body = JSON.parse(answer.text)
  assert.strictEqual(body.ok, false, what)
  assert.match(body.code, /^[a-z_]+$/u, what)
  assert.isAbove(body.message.length, 20, what)
  assert.deepStrictEqual(answer.faults, [], what)
  if (![404, 405].includes(answer.status))
    assert.isDefined(operation.responses[String(answer.status)], `${what}: ${answer.status} is not in the document`)
}

/** Of whole numbers, which are decimal digits and nothing else. */
const spellings = words("1e1 1E1 10.0 1. +1 -0 0x1 0b1 1_0 1n ١ １ Infinity").concat(" 1", "1 ")

const badIds = ["nobody", "%00", "%ff%fe", "..%2f..%2fetc", "x".repeat(400), "x".repeat(5000), id.toUpperCase()].concat(
  ["%F0%9F%98%80", "'--"],
)

layer(world({}, { trustedProxies: loopback }), realClock)("on hostile input,", (it) => {
  for (const operation of altar) {
    it.effect(`${operation.method} ${operation.path} answers with documented errors`, function* () {
      const { url } = yield* TestServer
      const { method, parameters, path } = operation
      const before = yield* stored
      const headers = { "idempotency-key": newKey(), "content-type": json }
      const good = path.replace(/\{(\w+)\}/gu, (_, name: string) => known[name] ?? "x")
      const ask = (at: string) => raw(url, method, at, headers, method === "POST" ? Buffer.from("{}") : none)
      const queries = parameters
        .filter((one) => one.in === "query")
        .flatMap(({ name, schema: { type } }) => [
          ...["", "%00", "9".repeat(400), "-1", "NaN", `a&${name}=b`].map((value) => `${name}=${value}`),
          ...(type === "integer" ? spellings : []).map((value) => `${name}=${encodeURIComponent(value)}`),
          `${name}[]=1`,
        ])
      for (const query of ["unknown=1", "%ff=1", ...queries])
        refuses(`${method} ${good}?${query.slice(0, 60)}`, operation, yield* ask(`${good}?${query}`))
      // No route answers another spelling of its path.
      const spelled = yield* raw(url, method, `${good};x`, headers)
      assert.deepStrictEqual([spelled.status, JSON.parse(spelled.text).code], [404, "not_found"], `${method} ${good};x`)
      for (const bad of path.includes("{") ? badIds.map((one) => path.replace(/\{\w+\}/gu, one)) : []) {
        const answer = yield* ask(bad)
        refuses(`${method} ${bad.slice(0, 80)}`, operation, answer)
        assert.strictEqual(answer.status, 404, bad.slice(0, 80))
      }
      if (method === "POST" && !path.startsWith("/api/reconcile"))
        for (const [name, body, type = json, status] of bodies) {
          const answer = yield* raw(url, method, good, { ...headers, "content-type": type }, body)
          refuses(`${method} ${good} with ${name}`, operation, answer)
          assert.notStrictEqual(answer.status, 402, `${method} ${good} offers a price for ${name}`)
          if (status !== undefined) assert.strictEqual(answer.status, status, `${method} ${good} with ${name}`)
        }
      assert.deepStrictEqual(yield* stored, before)
    })
  }

  it.effect("bytes that are no HTTP get no 5xx, and the next request is served", function* () {
    const { url } = yield* TestServer
    const port = Number(new URL(url).port)
    for (const bytes of broken) {
      const came = yield* Effect.promise(() => exchange(port, Buffer.from(bytes, "latin1")))
      assert.notMatch(came.toString("latin1"), /^HTTP\/1\.1 5/u, bytes.slice(0, 80))
    }
    const { status } = yield* raw(url, "GET", "/api/spirits", {})
    assert.strictEqual(status, 200)
  })

  it.effect("no page and no file fails, whatever replaces its name", function* () {
    const { url } = yield* TestServer
    for (const path of pages)
      for (const headers of [{ accept: "text/html,*/*;q=0.8" }, { accept: "application/json" }, { host: "[" }]) {
        const { status, text } = yield* raw(url, "GET", path, headers)
        assert.isBelow(status, 500, `${path.slice(0, 60)} ${text.slice(0, 200)}`)
        if (status === 404) assert.notStrictEqual(text, "", path.slice(0, 60))
      }
  })
})
