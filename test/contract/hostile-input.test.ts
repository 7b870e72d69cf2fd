/** Every route of the document meets hostile input: a clear 4xx with a code, never a 5xx, and nothing stored. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { faultsOf } from "../lab/run/Contract.ts"
import { world, newCommitment, newKey } from "../lab/Fixture.ts"
import * as Corpus from "../lab/hostile/Corpus.ts"
import { answersIn, bodyOf, exchange } from "../lab/hostile/Exchange.ts"
import { type Operation, operations } from "../lab/OpenApi.ts"
import { patience } from "../lab/Patience.ts"
import { TestServer, realClock } from "../lab/TestServices.ts"

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

/** Paths as raw bytes, which `fetch` would normalize first. */
const raw = (url: string, method: string, path: string, headers: Record<string, string>, body: Buffer = none) =>
  Effect.promise(async (): Promise<Refusal> => {
    const { host, port } = new URL(url)
    const all = { host, ...headers, "content-length": body.length, connection: "close" }
    const lines = [`${method} ${path} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)]
    const bytes = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body])
    const [answer] = answersIn(await exchange(Number(port), bytes, patience(30)), [method])
    if (answer === undefined) throw new Error(`${method} ${path} was not answered`)
    const { headers: heard, status } = answer
    const text = bodyOf(answer)
    return { status, text, faults: faultsOf({ method, url: `${url}${path}`, status, headers: heard, body: text }) }
  })

const members = ["commitment", "intentionCommitment", "agentName", "dedication", "reason", "salt", "text", "words"]

/** Bodies no route accepts; each fails for another reason. */
const bodies: ReadonlyArray<readonly [string, Buffer, string?]> = [
  ...[
    ...Corpus.values.filter((value) => !value.startsWith("{")),
    ...["1", "{}", '"\\u0000"', '"\\ud800"'].map(
      (value) => `{${members.map((name) => `"${name}":${value}`).join(",")}}`,
    ),
    '{"a":',
    `{"commitment":"${newCommitment()}","unknown":1}`,
    '{"__proto__":{"commitment":"x"},"agentName":"\\u0000"}',
    `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
    " ".repeat(1024 * 1024),
  ].map((text) => [text.slice(0, 60), Buffer.from(text)] as const),
  ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
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

layer(world(), realClock)("on hostile input,", (it) => {
  for (const operation of altar) {
    it.effect(`${operation.method} ${operation.path} answers with documented errors`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const { method, parameters, path } = operation
        const before = yield* stored
        const headers = { "idempotency-key": newKey(), "content-type": "application/json" }
        const good = path.replace(/\{(\w+)\}/gu, (_, name: string) => known[name] ?? "x")
        const ask = (at: string) => raw(url, method, at, headers, method === "POST" ? Buffer.from("{}") : none)
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
        assert.deepStrictEqual(
          [spelled.status, JSON.parse(spelled.text).code],
          [404, "not_found"],
          `${method} ${good};x`,
        )
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
      }),
    )
  }

  it.effect("bytes that are no HTTP get no 5xx, and the next request is served", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const port = Number(new URL(url).port)
      for (const bytes of Corpus.broken) {
        const came = yield* Effect.promise(() => exchange(port, Buffer.from(bytes, "latin1"), 500, true))
        assert.notMatch(came.toString("latin1"), /^HTTP\/1\.1 5/u, bytes.slice(0, 80))
      }
      const { status } = yield* raw(url, "GET", "/api/spirits", {})
      assert.strictEqual(status, 200)
    }),
  )

  it.effect("no page and no file fails, whatever replaces its name", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      for (const path of Corpus.pages)
        for (const headers of [{ accept: "text/html,*/*;q=0.8" }, { accept: "application/json" }, { host: "[" }]) {
          const { status, text } = yield* raw(url, "GET", path, headers)
          assert.isBelow(status, 500, `${path.slice(0, 60)} ${text.slice(0, 200)}`)
          if (status === 404) assert.notStrictEqual(text, "", path.slice(0, 60))
        }
    }),
  )
})
