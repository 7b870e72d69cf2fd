/** Each endpoint of the document, asked twice in many ways: a URL that is known answers as the router does, to the byte. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AppConfig } from "../../src/server/config/Config.ts"
import { most } from "../../src/http/KnownUrls.ts"
import * as Server from "../../src/server/Server.ts"
import { type Operation, operations, type Schema, resolved } from "../hostile/Document.ts"
import { freePort } from "../support/Ports.ts"
import { loopback } from "../support/Rooms.ts"
import {
  type Answer,
  ask,
  newCommitment,
  newKey,
  newPayer,
  pay,
  post,
  World,
  layer as world,
} from "../support/World.ts"

/** What differs from one answer to the next, whoever gives it. */
const volatile = new Set(["date", "x-request-id", "ratelimit", "retry-after", "connection", "keep-alive"])

const headersOf = ({ headers }: Answer) => [...headers].filter(([name]) => !volatile.has(name))

/** What was made anew has its own id, token and time: of those the form is compared. */
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

layer(world({}, undefined, { trustedProxies: loopback }), { excludeTestServices: true, timeout: 300_000 })(
  "a URL that comes again",
  (it) => {
    it.effect("is answered as the router answers it", () =>
      Effect.gen(function* () {
        const { url } = yield* World
        const config = yield* AppConfig
        const port = yield* freePort
        yield* Layer.build(
          Layer.fresh(
            Server.layer(Layer.empty).pipe(
              Layer.provide(Layer.succeed(AppConfig, { ...config, port })),
              Layer.provide(Layer.succeed(most, 0)),
            ),
          ),
        )
        const routed = `http://127.0.0.1:${port}`
        const { answer: bought } = yield* pay(yield* newPayer(), `${url}/api/witness`, { commitment: newCommitment() })
        const { id } = bought.json["record"] as { id: string }
        const created = yield* ask(`${url}/api/rooms`, post({}))
        const { room, token } = created.json as { room: { id: string }; token: string }
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
        for (const operation of operations) {
          const mine = operation.path.startsWith("/api/rooms") ? [{ authorization: `Bearer ${token}` }] : []
          const methods = operation.method === "GET" ? ["GET", "HEAD"] : [operation.method]
          for (const path of urlsOf(operation, ids)) {
            // What is deleted is gone for whoever asks second.
            if (operation.method === "DELETE" && path.includes(room.id)) continue
            for (const method of methods) {
              for (const body of bodiesOf(operation)) {
                for (const headers of [...variants, ...mine, { "idempotency-key": newKey() }]) {
                  const asked = `${method} ${path} ${JSON.stringify(headers)} ${body ?? ""}`
                  const first = saidBy(yield* send(url, path, method, headers, body))
                  const again = saidBy(yield* send(url, path, method, headers, body))
                  const router = saidBy(yield* send(routed, path, method, headers, body))
                  assert.deepStrictEqual(again, router, asked)
                  assert.deepStrictEqual(again, first, asked)
                  compared += 1
                }
              }
            }
          }
        }
        assert.isAbove(compared, 500)
      }),
    )
  },
)
