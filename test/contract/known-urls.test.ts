/** Each endpoint of the document, asked twice in many ways: a URL that is known answers as the router does, to the byte. */
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { AppConfig } from "../../src/server/config/Config.ts"
import { urlMaximum } from "../../src/http/UrlCache.ts"
import * as Server from "../../src/server/Server.ts"
import { openConnection } from "../lab/Connection.ts"
import { type Operation, operations, resolved, type Schema } from "../lab/OpenApi.ts"
import { freePort } from "../lab/Ports.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { type Answer, ask, layer as world, newCommitment, newKey, newPayer, pay, post } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

/** The parts that differ in every answer. */
const volatile = new Set(["date", "x-request-id", "ratelimit", "retry-after", "connection", "keep-alive"])

const headersOf = ({ headers }: Answer) => [...headers].filter(([name]) => !volatile.has(name))

/** A new object has its own id, token and time: of those the form is compared. */
const isNew = ({ status }: Answer) => status === 201 || status === 202

const formOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(formOf)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, formOf(member)]))
      : typeof value

const saidBy = (answer: Answer) => ({
  status: answer.status,
  headers: headersOf(answer).filter(([name]) => !(isNew(answer) && ["content-length", "location"].includes(name))),
  body: isNew(answer) ? formOf(answer.json) : answer.text.replace(/"serverTime":"[^"]*"/u, ""),
})

const exampleOf = (schema: Schema): unknown => {
  const { anyOf, enum: values, examples, minimum, oneOf, properties, required = [], type } = resolved(schema)
  const [other] = [...(anyOf ?? []), ...(oneOf ?? [])]
  if (examples !== undefined) return examples[0]
  if (values !== undefined) return values[0]
  if (other !== undefined) return exampleOf(other)
  if (properties === undefined) return type === "integer" ? (minimum ?? 1) : type === "boolean" ? true : "word"
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]))
}

const asQuery = (operation: Operation) =>
  operation.parameters.flatMap((one) =>
    one.in === "query" ? [`${one.name}=${encodeURIComponent(String(exampleOf(one.schema)))}`] : [],
  )

/** Paths with ids that exist, ids that do not, and parameters that are none; each with queries that fit and do not. */
const urlsOf = (operation: Operation, ids: Readonly<Record<string, string>>) => {
  const filled = (value: (name: string, schema: Schema) => string) =>
    operation.path.replace(/\{([A-Za-z]+)\}/gu, (_, name: string) => {
      const parameter = operation.parameters.find((one) => one.in === "path" && one.name === name)
      return encodeURIComponent(value(name, parameter?.schema ?? {}))
    })
  const paths = new Set([
    filled((name, schema) => ids[name] ?? String(exampleOf(schema))),
    filled((_, schema) => String(exampleOf(schema))),
    filled(() => "no-such-thing"),
  ])
  const [query] = [asQuery(operation).join("&")]
  return [...paths].flatMap((path) => [path, ...(query === "" ? [] : [`${path}?${query}`]), `${path}?nonsense=1`])
}

const bodiesOf = ({ body, method }: Operation) =>
  method !== "POST" ? [undefined] : [undefined, "{", ...(body === undefined ? [] : [JSON.stringify(exampleOf(body))])]

const variants: ReadonlyArray<Readonly<Record<string, string>>> = [
  {},
  { "accept-encoding": "gzip" },
  { "accept-encoding": "br", "if-none-match": "*" },
  { authorization: "Bearer nothing" },
  { "idempotency-key": "no" },
  { "payment-signature": "e30=" },
]

const stone = () => ({ commitment: newCommitment() })
const named = (headers: Record<string, string> = {}) => ({ "idempotency-key": newKey(), ...headers })

/** Paid questions that are refused, each for a reason of its own. */
const wrong: Readonly<Record<string, () => RequestInit>> = {
  "no key": () => post(stone()),
  "a short key": () => post(stone(), { "idempotency-key": "short" }),
  "no body": () => ({ method: "POST", headers: named() }),
  "no JSON": () => post("{", named()),
  "no object": () => post("[]", named()),
  "a number beyond all": () => post('{"commitment":1e999}', named()),
  "another form": () => post({ commitment: "no" }, named()),
  "a member too many": () => post({ ...stone(), more: 1 }, named()),
  "a commitment that is refused": () => post({ commitment: "0".repeat(64) }, named()),
  "no JSON by its own word": () => post("text", named({ "content-type": "text/plain" })),
  "a body too long": () => post({ commitment: "a".repeat(70_000) }, named()),
  "a payment that is none": () => post(stone(), named({ "payment-signature": "none" })),
  "two payments": () => post(stone(), named({ "payment-signature": "none", authorization: 'Payment id="x"' })),
}

/** The pollers of a room: with no token, with one that is spelled otherwise, with another's, or from a foreign page. */
const callersOf = (token: string, other: string): ReadonlyArray<Readonly<Record<string, string>>> => [
  { authorization: "Bearer" },
  { authorization: `Basic ${token}` },
  { authorization: `bearer ${token}` },
  { authorization: `Bearer ${token.slice(1)}` },
  { authorization: `Bearer ${other}` },
  { authorization: `Bearer ${token}`, origin: "https://elsewhere.example" },
]

let lookups = 0

/** Counts the statements that look a key up. */
const counting = Layer.succeed(Statement.CurrentTransformer, (statement) => {
  if (statement.compile()[0].includes("payment_claims WHERE name = n.name")) lookups += 1
  return Effect.succeed(statement)
})

const fixture = world({}, undefined, { trustedProxies: loopback }).pipe(Layer.provide(counting))

suite("a repeated URL", fixture, (it) => {
  it("is answered as the router answers it", function* ({ url }) {
    const config = yield* AppConfig
    const port = yield* freePort
    yield* Layer.build(
      Layer.fresh(
        Server.layer(Layer.empty).pipe(
          Layer.provide(Layer.succeed(AppConfig, { ...config, port })),
          Layer.provide(Layer.succeed(urlMaximum, 0)),
        ),
      ),
    )
    const routed = `http://127.0.0.1:${port}`
    const sold = stone()
    const { answer: bought, key } = yield* pay(yield* newPayer(), `${url}/api/witness`, sold)
    const { id } = bought.json["record"] as { id: string }
    const newRoom = Effect.map(
      ask(`${url}/api/rooms`, post({})),
      ({ json }) => json as { room: { id: string }; token: string },
    )
    const { room, token } = yield* newRoom
    const other = yield* newRoom
    const ids = { witnessId: id, actId: id, roomId: room.id }

    let turn = 0
    const send = (at: string, path: string, method: string, headers: Record<string, string>, body?: string) => {
      turn += 1
      const from = { "x-forwarded-for": `10.${(turn >> 16) & 255}.${(turn >> 8) & 255}.${turn & 255}` }
      return ask(`${at}${path}`, {
        method,
        headers: { ...from, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body }),
      })
    }

    let compared = 0
    /** Twice here and once where nothing is known: three equal answers. */
    const compare = Effect.fnUntraced(function* (asked: string, at: (url: string) => Effect.Effect<Answer>) {
      const first = saidBy(yield* at(url))
      const again = saidBy(yield* at(url))
      assert.deepStrictEqual(again, saidBy(yield* at(routed)), asked)
      assert.deepStrictEqual(again, first, asked)
      compared += 1
      return first
    })
    for (const operation of operations) {
      const isPoll = operation.method === "GET" && operation.path === "/api/rooms/{roomId}"
      const mine = operation.path.startsWith("/api/rooms") ? [{ authorization: `Bearer ${token}` }] : []
      const callers = isPoll ? callersOf(token, other.token) : []
      const methods = operation.method === "GET" ? ["GET", "HEAD"] : [operation.method]
      for (const path of urlsOf(operation, ids)) {
        // A second deletion finds nothing.
        if (operation.method === "DELETE" && path.includes(room.id)) continue
        for (const method of methods) {
          for (const body of bodiesOf(operation)) {
            for (const headers of [...variants, ...mine, ...callers, { "idempotency-key": newKey() }]) {
              const asked = `${method} ${path} ${JSON.stringify(headers)} ${body ?? ""}`
              yield* compare(asked, (at) => send(at, path, method, headers, body))
            }
          }
        }
      }
    }
    assert.isAbove(compared, 500)

    const refusals = new Set<string>()
    for (const [why, request] of Object.entries(wrong)) {
      const asked = request()
      const { body } = yield* compare(why, (at) => ask(`${at}/api/witness`, asked))
      refusals.add(JSON.stringify(body))
    }
    assert.isAtLeast(refusals.size, 8)
    for (const { port: at } of [new URL(url), new URL(routed)]) {
      const { ask: write } = yield* openConnection(Number(at))
      // The head of this one promises a body, in chunks, and there is none.
      const head = "POST /api/witness HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n"
      assert.include(yield* write(`${head}connection: close\r\n\r\n0\r\n\r\n`), "HTTP/1.1 402")
    }

    // Without its payment, so that it goes the short way.
    const replay = { "idempotency-key": key, "accept-encoding": "br" }
    const again = yield* compare("a replay", (at) => ask(`${at}/api/witness`, post(sold, replay)))
    assert.deepInclude(again.headers, ["content-encoding", "br"])
    assert.strictEqual(again.status, 200)

    const poll = (at: string) => send(at, `/api/rooms/${room.id}?after=0`, "GET", { authorization: `Bearer ${token}` })
    assert.strictEqual((yield* poll(url)).status, 200)
    const removed = yield* send(routed, `/api/rooms/${room.id}`, "DELETE", { authorization: `Bearer ${token}` })
    assert.strictEqual(removed.status, 200, removed.text)
    assert.strictEqual((yield* compare("a deleted room", poll)).status, 404)
  })

  it("costs one database query for its key, whatever the request becomes", function* ({ url }) {
    const { key } = yield* pay(yield* newPayer(), `${url}/api/witness`, stone())
    yield* ask(`${url}/api/witness`, post(stone(), named()))
    const asked = Effect.fnUntraced(function* (path: string, headers: Record<string, string>) {
      const before = lookups
      const { status } = yield* ask(`${url}${path}`, post(stone(), headers))
      return [status, lookups - before]
    })
    // Spelled otherwise, it is not known yet.
    for (const path of ["/api/%77itness", "/api/witness"]) {
      assert.deepStrictEqual(yield* asked(path, { "idempotency-key": key }), [409, 1])
      assert.deepStrictEqual(yield* asked(path, named()), [402, 1])
    }
  })
})
