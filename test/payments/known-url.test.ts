/** From the second time on a URL is known and its questions go a shorter way: nobody can tell by the answers. */
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
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

const named = (headers: Record<string, string> = {}) => ({ "idempotency-key": newKey(), ...headers })

/** Questions that are refused, each for a reason of its own. */
const refused: Readonly<Record<string, () => RequestInit>> = {
  "no key": () => post({ commitment: newCommitment() }),
  "a short key": () => post({ commitment: newCommitment() }, { "idempotency-key": "short" }),
  "no body": () => ({ method: "POST", headers: named() }),
  "no JSON": () => post("{", named()),
  "no object": () => post("[]", named()),
  "a number beyond all": () => post('{"commitment":1e999}', named()),
  "another form": () => post({ commitment: "no" }, named()),
  "a member too many": () => post({ commitment: newCommitment(), more: 1 }, named()),
  "a commitment that is refused": () => post({ commitment: "0".repeat(64) }, named()),
  "no JSON by its own word": () => post("text", named({ "content-type": "text/plain" })),
  "a body too long": () => post({ commitment: "a".repeat(70_000) }, named()),
  "a payment that is none": () => post({ commitment: newCommitment() }, named({ "payment-signature": "none" })),
  "two payments": () =>
    post({ commitment: newCommitment() }, named({ "payment-signature": "none", authorization: 'Payment id="x"' })),
}

const shown = ["content-type", "cache-control", "payment-required", "access-control-allow-origin", "vary"]

const told = ({ headers, status, text }: Answer) => ({
  status,
  text: text.replace(/[0-9a-f-]{36}/gu, "id"),
  headers: shown.map((name) => headers.get(name)),
})

/** A request without a body whose head promises one, in chunks. */
const chunkedAndEmpty = (url: string) =>
  Effect.callback<string>((resume) => {
    const { hostname, pathname, port } = new URL(url)
    let answer = ""
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n\r\n`,
      ),
    )
    socket.setEncoding("utf8")
    socket.on("data", (part: string) => (answer += part))
    socket.on("close", () => resume(Effect.succeed(answer)))
  })

let lookups = 0

/** Counts the statements that look a key up. */
const counting = Layer.succeed(Statement.CurrentTransformer, (statement) => {
  if (statement.compile()[0].includes("payment_claims WHERE name = n.name")) lookups += 1
  return Effect.succeed(statement)
})

layer(world().pipe(Layer.provide(counting)), { excludeTestServices: true })("a URL that is known", (it) => {
  it.effect("refuses every wrong question as it did before", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const refusals = Effect.forEach(Object.entries(refused), ([why, request]) =>
        Effect.map(ask(`${url}/api/witness`, request()), (answer) => ({ why, ...told(answer) })),
      )
      const before = yield* refusals
      assert.isAtLeast(new Set(before.map(({ text }) => text)).size, 8)
      for (let asked = 0; asked < 2; asked++) {
        const { status } = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, named()))
        assert.strictEqual(status, 402)
        assert.deepStrictEqual(yield* refusals, before)
      }
      assert.include(yield* chunkedAndEmpty(`${url}/api/witness`), "HTTP/1.1 402")
      assert.deepStrictEqual(yield* refusals, before)
    }),
  )

  it.effect("offers the same in the same bytes, replays a purchase and refuses its key for another", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const question = () => ask(`${url}/api/witness`, post({ commitment: newCommitment() }, named()))
      const first = yield* question()
      assert.deepStrictEqual(told(yield* question()), told(first))
      const payer = yield* newPayer()
      const body = { commitment: newCommitment() }
      const { answer, key } = yield* pay(payer, `${url}/api/witness`, body)
      assert.strictEqual(answer.status, 201, answer.text)
      // Without its payment, so that it goes the short way.
      const again = yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key }))
      assert.deepStrictEqual([again.status, again.headers.get("idempotent-replayed")], [200, "true"], again.text)
      assert.strictEqual(again.text, answer.text.replace(/"replayed":false\}$/u, '"replayed":true}'))
      const other = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, { "idempotency-key": key }))
      assert.deepStrictEqual([other.status, other.json["code"]], [409, "idempotency_conflict"], other.text)
    }),
  )

  it.effect("looks a key up once, whatever becomes of the question", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const payer = yield* newPayer()
      const { key } = yield* pay(payer, `${url}/api/witness`, { commitment: newCommitment() })
      yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, named()))
      const asked = Effect.fnUntraced(function* (path: string, headers: Record<string, string>) {
        const before = lookups
        const { status } = yield* ask(`${url}${path}`, post({ commitment: newCommitment() }, headers))
        return [status, lookups - before]
      })
      // Spelled otherwise, it is not known yet.
      for (const path of ["/api/%77itness", "/api/witness"]) {
        assert.deepStrictEqual(yield* asked(path, { "idempotency-key": key }), [409, 1])
        assert.deepStrictEqual(yield* asked(path, named()), [402, 1])
      }
    }),
  )

  it.effect("spends no more on the bytes of a replay, which is sent once, than the whole way does", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const payer = yield* newPayer()
      const body = { commitment: newCommitment() }
      const { key } = yield* pay(payer, `${url}/api/witness`, body)
      yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, named()))
      const replay = (path: string) =>
        Effect.map(
          ask(`${url}${path}`, post(body, { "idempotency-key": key, "accept-encoding": "br" })),
          ({ headers, status }) => [status, headers.get("content-encoding"), headers.get("content-length")],
        )
      // Spelled otherwise, it is not known yet.
      const whole = yield* replay("/api/%77itness")
      assert.deepStrictEqual(whole.slice(0, 2), [200, "br"])
      assert.deepStrictEqual(yield* replay("/api/witness"), whole)
    }),
  )

  it.effect("keeps what its path and query say apart from those of another", () =>
    Effect.gen(function* () {
      const { url } = yield* World
      const offered = (path: string) =>
        Effect.map(ask(`${url}${path}`, post({}, named())), ({ json, status }) => ({
          status,
          challenge: json["challenge"],
        }))
      const paths = ["/api/prayers/moss-hare", "/api/prayers/moss-hare?day=2000-01-01", "/api/prayers/nobody"]
      const before = yield* Effect.forEach(paths, offered)
      assert.deepStrictEqual(yield* Effect.forEach(paths, offered), before)
    }),
  )
})
