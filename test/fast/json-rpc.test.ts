/** Questions to the node travel together, are as fresh as if they had travelled alone, and fail alone. */
import { createServer, type ServerResponse } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted } from "effect"
import * as JsonRpc from "../../src/payments/x402/JsonRpc.ts"

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** What a node does with one request; `calls` is one call where the request was no batch. */
type Behaviour = (calls: Call | ReadonlyArray<Call>, response: ServerResponse) => void

const isBatch = (calls: Call | ReadonlyArray<Call>): calls is ReadonlyArray<Call> => Array.isArray(calls)
const echo = ({ id, method, params }: Call) => ({ jsonrpc: "2.0", id, result: `${method} ${String(params[0])}` })
const answerAll = (calls: Call | ReadonlyArray<Call>) => JSON.stringify(isBatch(calls) ? calls.map(echo) : echo(calls))

const nodeThat = Effect.fnUntraced(function* (behave: Behaviour, timeout: Duration.Duration, limit?: number) {
  const heard: Array<Call | ReadonlyArray<Call>> = []
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8")
        request.on("data", (chunk: string) => (body += chunk))
        request.on("end", () => {
          const calls: Call | ReadonlyArray<Call> = JSON.parse(body)
          heard.push(calls)
          behave(calls, response)
        })
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => made.close().closeAllConnections()),
  )
  const at = server.address()
  const url = Redacted.make(`http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}`)
  const node = yield* JsonRpc.make({ url, timeout, ...(limit === undefined ? {} : { limit }) })
  return { ...node, heard }
})

/** `first`, `second` … asked at once; what each was answered, or why it was not. */
const askAll = (ask: JsonRpc.Ask, names: ReadonlyArray<string>) =>
  Effect.forEach(
    names,
    (name) =>
      ask("eth_call", [name]).pipe(
        Effect.match({ onSuccess: String, onFailure: ({ code, reason, status }) => String(code ?? status ?? reason) }),
      ),
    { concurrency: "unbounded" },
  )

const scoped = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof nodeThat>>>) =>
  effect.pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndici))

const patient = Duration.seconds(30)
const names = ["first", "second", "third"]
const fine = names.map((name) => `eth_call ${name}`)

describe("questions to the node", () => {
  it.live("of one moment are one request, the same question once, and fifty at most", () =>
    scoped(
      Effect.gen(function* () {
        const { ask, heard } = yield* nodeThat((calls, response) => response.end(answerAll(calls)), patient)
        assert.deepStrictEqual(yield* askAll(ask, [...names, "first", "first"]), [...fine, fine[0], fine[0]])
        assert.deepStrictEqual(
          heard.map((calls) => [calls].flat().length),
          [3],
        )
        const many = Array.from({ length: 120 }, (_, index) => String(index))
        assert.deepStrictEqual(
          yield* askAll(ask, many),
          many.map((name) => `eth_call ${name}`),
        )
        // They travel side by side, over connections of their own: which one arrives first nobody promises.
        const sizes = heard.slice(1).map((calls) => [calls].flat().length)
        assert.deepStrictEqual(
          sizes.sort((one, other) => other - one),
          [50, 50, 20],
        )
      }),
    ),
  )

  it.live("never take the answer to a request that was on its way before them", () =>
    scoped(
      Effect.gen(function* () {
        let block = 0
        const held = Promise.withResolvers<() => void>()
        const { ask } = yield* nodeThat((calls, response) => {
          block += 1
          const text = JSON.stringify({ id: [calls].flat()[0]?.id, result: block })
          if (block === 1) held.resolve(() => response.end(text))
          else response.end(text)
        }, patient)
        const early = yield* Effect.forkChild(ask("eth_blockNumber", []))
        const release = yield* Effect.promise(() => held.promise)
        assert.strictEqual(yield* ask("eth_blockNumber", []), 2)
        release()
        assert.strictEqual(yield* Fiber.join(early), 1)
      }),
    ),
  )

  it.live("go on when whoever asked first leaves", () =>
    scoped(
      Effect.gen(function* () {
        const held = Promise.withResolvers<() => void>()
        const { ask } = yield* nodeThat(
          (calls, response) => held.resolve(() => response.end(answerAll(calls))),
          patient,
        )
        const first = yield* Effect.forkChild(ask("eth_call", ["first"]))
        const second = yield* Effect.forkChild(ask("eth_call", ["first"]))
        const release = yield* Effect.promise(() => held.promise)
        yield* Fiber.interrupt(first)
        release()
        assert.strictEqual(yield* Fiber.join(second), fine[0])
      }),
    ),
  )

  const partial: ReadonlyArray<
    readonly [what: string, answers: (calls: ReadonlyArray<Call>) => ReadonlyArray<unknown>]
  > = [
    ["leaves one out", (calls) => calls.slice(1).map(echo)],
    ["answers in another order", (calls) => calls.map(echo).toReversed()],
    ["answers one with what is no answer", (calls) => ["?", ...calls.slice(1).map(echo)]],
    ["answers one without a result", ([first, ...calls]) => [{ id: first?.id }, ...calls.map(echo)]],
  ]
  for (const [what, answers] of partial) {
    it.live(`get each its own answer of a node that ${what}`, () =>
      scoped(
        Effect.gen(function* () {
          const { ask } = yield* nodeThat(
            (calls, response) => response.end(isBatch(calls) ? JSON.stringify(answers(calls)) : answerAll(calls)),
            patient,
          )
          assert.deepStrictEqual(yield* askAll(ask, names), fine)
        }),
      ),
    )
  }

  for (const [what, status, text] of [
    ["with a status", 400, "no batches"],
    ["with an error", 200, '{"id":null,"error":{"code":-32600,"message":"no batches"}}'],
    ["with nonsense", 200, "<html>"],
  ] as const) {
    it.live(`are asked one by one where batches are refused ${what}`, () =>
      scoped(
        Effect.gen(function* () {
          const { ask, heard } = yield* nodeThat(
            (calls, response) =>
              isBatch(calls) ? response.writeHead(status).end(text) : response.end(answerAll(calls)),
            patient,
          )
          assert.deepStrictEqual(yield* askAll(ask, names), fine)
          assert.deepStrictEqual(yield* askAll(ask, names), fine)
          if (text !== "<html>") assert.strictEqual(heard.filter(isBatch).length, 1, "and that is remembered")
        }),
      ),
    )
  }

  it.live("fail alone: by an error of their own, by their length, or by their time", () =>
    scoped(
      Effect.gen(function* () {
        const { ask } = yield* nodeThat((calls, response) => {
          const named = (name: string) => [calls].flat().some(({ params }) => params[0] === name)
          if (named("endless")) return void response.write("[".padEnd(2_000_000))
          if (named("never")) return undefined
          const one = (call: Call) =>
            call.params[0] === "reverts" ? { id: call.id, error: { code: 3, message: "reverted" } } : echo(call)
          return void response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
        }, Duration.seconds(1))
        assert.deepStrictEqual(yield* askAll(ask, ["first", "reverts"]), [fine[0], "3"])
        assert.deepStrictEqual(yield* askAll(ask, ["first", "endless"]), [fine[0], "AnswerTooLarge"])
        assert.deepStrictEqual(yield* askAll(ask, ["first", "never"]), [fine[0], "TimeoutError"])
      }),
    ),
  )

  it.live("end in time although the node sends a byte now and then for ever", () =>
    scoped(
      Effect.gen(function* () {
        const { ask } = yield* nodeThat((_, response) => {
          const drip = setInterval(() => response.write(" "), 20)
          response.on("close", () => clearInterval(drip))
        }, Duration.millis(200))
        assert.deepStrictEqual(yield* askAll(ask, ["first"]), ["TimeoutError"])
      }),
    ),
  )

  it.live("are repeated once after what passes, and what must not be repeated is asked a single time", () =>
    scoped(
      Effect.gen(function* () {
        const { ask, heard, once } = yield* nodeThat((_, response) => response.writeHead(503).end(), patient)
        assert.deepStrictEqual(yield* askAll(ask, ["first"]), ["503"])
        assert.strictEqual(heard.length, 2)
        yield* Effect.flip(once("eth_sendRawTransaction", ["0x"]))
        assert.strictEqual(heard.length, 3)
      }),
    ),
  )
})
