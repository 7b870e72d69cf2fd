/** Every route of the document meets hostile input: a clear 4xx with a code, never a 5xx, and nothing stored. */
import { request as send } from "node:http"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { faultsOf } from "../lab/run/Contract.ts"
import { layer as world, newCommitment, newKey } from "../lab/Fixture.ts"
import { type Operation, operations } from "../lab/OpenApi.ts"
import { assert, suite } from "../lab/Suites.ts"

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

interface Refusal {
  readonly status: number
  readonly text: string
  readonly faults: ReadonlyArray<string>
}

/** Paths as raw bytes, which `fetch` would normalize first. */
const raw = (url: string, method: string, path: string, headers: Record<string, string>, body?: Buffer) =>
  Effect.callback<Refusal>((resume) => {
    const { hostname, port } = new URL(url)
    const length = body === undefined ? {} : { "content-length": body.length }
    const request = send({ hostname, port, method, path, headers: { ...headers, ...length } }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        const [status, text] = [response.statusCode ?? 0, Buffer.concat(chunks).toString()]
        const heard = new Headers()
        for (const [name, values = []] of Object.entries(response.headersDistinct)) heard.set(name, values.join(", "))
        const faults = faultsOf({ method, url: `${url}${path}`, status, headers: heard, body: text })
        resume(Effect.succeed({ status, text, faults }))
      })
      response.on("error", (error) => resume(Effect.die(error)))
    })
    request.on("error", (error) => resume(Effect.die(error)))
    request.end(body)
  })

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** Bodies no route accepts; each fails for another reason. */
const bodies: ReadonlyArray<readonly [string, Buffer, string?]> = [
  ["broken JSON", Buffer.from('{"a":')],
  ["a string", json("x")],
  ["an array", json([1])],
  ["a number", Buffer.from("1e999")],
  ["null", json(null)],
  [
    "wrong types",
    json({
      commitment: 1,
      intentionCommitment: [],
      agentName: {},
      dedication: 7,
      salt: true,
      text: null,
      words: 1,
      reason: 0,
    }),
  ],
  ["an extra property", json({ commitment: newCommitment(), unknown: 1 })],
  ["__proto__", Buffer.from('{"__proto__":{"commitment":"x"},"agentName":"\\u0000"}')],
  [
    "NUL bytes",
    json({
      agentName: "a\u0000b",
      dedication: "a\u0000b",
      reason: "a\u0000",
      salt: "a".repeat(16) + "\u0000",
      text: "\u0000",
      words: "\u0000",
    }),
  ],
  [
    "lone surrogates",
    Buffer.from('{"agentName":"\\udfff","dedication":"\\ud800","reason":"\\ud800","text":"\\ud800","words":"\\ud800"}'),
  ],
  ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
  ["deep nesting", Buffer.from(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`)],
  ["a megabyte", Buffer.alloc(1024 * 1024, 0x20)],
  ["a form", Buffer.from("commitment=x"), "application/x-www-form-urlencoded"],
]

const stored = Effect.flatMap(
  SqlClient.SqlClient,
  (
    sql,
  ) => sql`SELECT (SELECT count(*) FROM payment_attempts) AS attempts, (SELECT count(*) FROM payment_claims) AS claims,
    (SELECT count(*) FROM payment_pools) AS pools, (SELECT count(*) FROM witness_reveals) AS reveals,
    (SELECT count(*) FROM candle_unseals) AS unseals`,
)

const refuses = (what: string, operation: Operation, answer: Refusal) => {
  assert.isTrue(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status} ${answer.text.slice(0, 200)}`)
  const body = JSON.parse(answer.text)
  assert.strictEqual(body.ok, false, what)
  assert.match(body.code, /^[a-z_]+$/u, what)
  assert.isAbove(body.message.length, 20, what)
  assert.deepStrictEqual(answer.faults, [], what)
  if (![404, 405].includes(answer.status))
    assert.isDefined(operation.responses[String(answer.status)], `${what}: ${answer.status} is not in the document`)
}

const badIds = ["nobody", "%00", "%ff%fe", "..%2f..%2fetc", "x".repeat(400), "x".repeat(5000), id.toUpperCase()].concat(
  ["%F0%9F%98%80", "'--"],
)

suite("on hostile input,", world(), (it) => {
  for (const operation of altar) {
    it(`${operation.method} ${operation.path} answers with documented errors`, function* ({ url }) {
      const { method, parameters, path } = operation
      const before = yield* stored
      const headers = { "idempotency-key": newKey(), "content-type": "application/json" }
      const good = path.replace(/\{(\w+)\}/gu, (_, name: string) => known[name] ?? "x")
      const ask = (at: string) => raw(url, method, at, headers, method === "POST" ? json({}) : undefined)
      const queries = parameters
        .filter((one) => one.in === "query")
        .flatMap(({ name }) => [
          ...["", "%00", "9".repeat(400), "-1", "NaN", `a&${name}=b`].map((value) => `${name}=${value}`),
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
        for (const [name, body, type = "application/json"] of bodies) {
          const answer = yield* raw(url, method, good, { ...headers, "content-type": type }, body)
          refuses(`${method} ${good} with ${name}`, operation, answer)
          assert.notStrictEqual(answer.status, 402, `${method} ${good} offers a price for ${name}`)
        }
      assert.deepStrictEqual(yield* stored, before)
    })
  }

  it("no page and no file fails, whatever replaces its name", function* ({ url }) {
    for (const [path, status, host] of [
      ["//", 404],
      ["///", 404],
      ["//a:99999/", 404],
      ["//[/", 404],
      ["/v2/search?q=%00", 200],
      ["/v2/search?q=a%00b", 200],
      ["/v2/search?q=%E2%80%A8", 200],
      ["/v2/acts?kind=%00&spirit=__proto__&wallet=%00&before=%00", 200],
      ["/v2/acts?kind=constructor", 200],
      ["/v2/wallets/%00", 404],
      [`/v2/wallets/0x${"g".repeat(40)}`, 404],
      ["/v2/stone?spirit=%00", 200],
      ["/v2/qr.svg?to=%00", 404],
      ["/art/spirits/moss-hare.svg/x", 404],
      ["/style/icon.svg/x", 404],
      ["/style/icon.svg%2Fx", 404],
      ["/style/icon%2Esvg/x", 404],
      ["/art/spirits/moss-hare.svg%2Fx", 404],
      ["/art/%ff", 404],
      [`/art/${"x".repeat(256)}`, 404],
      [`/${"x".repeat(256)}`, 404],
      [`/art/spirits/${"%C3%A4".repeat(100)}`, 404],
      ["/art/spirits/moss-hare.svg", 404, "["],
      ["/art/spirits", 404, "["],
      ["/art/%00", 404],
    ] as const) {
      for (const accept of ["text/html,*/*;q=0.8", "application/json"]) {
        const headers = { accept, ...(host === undefined ? {} : { host }) }
        const answer = yield* raw(url, "GET", path, headers)
        assert.strictEqual(answer.status, status, `${path.slice(0, 60)} ${accept} ${answer.text.slice(0, 200)}`)
        if (status === 404) assert.notStrictEqual(answer.text, "", path.slice(0, 60))
      }
    }
  })
})
