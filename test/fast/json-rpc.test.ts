/** Questions to the node travel together, are as fresh as if they had travelled alone, and fail alone. */
import { createServer, type ServerResponse } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted, Result } from "effect"
import { numberToHex } from "viem"
import { Chain } from "../../src/payments/x402/node/Chain.ts"
import * as JsonRpc from "../../src/payments/x402/node/JsonRpc.ts"
import type { Ask } from "../../src/payments/x402/node/Rpc.ts"
import { patience } from "../lab/Patience.ts"

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

const served = Effect.fnUntraced(function* (behave: Behaviour) {
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
  return { heard, url }
})

const nodeThat = Effect.fnUntraced(function* (behave: Behaviour, timeout: Duration.Duration, limit?: number) {
  const { heard, url } = yield* served(behave)
  const node = yield* JsonRpc.make({ url, timeout, ...(limit === undefined ? {} : { limit }) })
  return { ...node, heard }
})

/** `first`, `second` … asked at once; what each was answered, or why it was not. */
const askAll = (ask: Ask, names: ReadonlyArray<string>) =>
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
        const behave: Behaviour = (calls, response) => {
          const named = (name: string) => [calls].flat().some(({ params }) => params[0] === name)
          if (named("endless")) return void response.write("[".padEnd(2_000_000))
          if (named("never")) return undefined
          const one = (call: Call) =>
            call.params[0] === "reverts" ? { id: call.id, error: { code: 3, message: "reverted" } } : echo(call)
          return void response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
        }
        const { ask } = yield* nodeThat(behave, patient)
        assert.deepStrictEqual(yield* askAll(ask, ["first", "reverts"]), [fine[0], "3"])
        assert.deepStrictEqual(yield* askAll(ask, ["first", "endless"]), [fine[0], "AnswerTooLarge"])
        // Long enough for what does answer, also where others have their turn first.
        const hurried = yield* nodeThat(behave, Duration.millis(patience(1.5)))
        assert.deepStrictEqual(yield* askAll(hurried.ask, ["first", "never"]), [fine[0], "TimeoutError"])
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

/** A block of one of two branches, as the head of it says. */
const blockOn = (branch: "a" | "b", number: number) => ({
  number: numberToHex(number),
  hash: numberToHex(BigInt(number) + (branch === "a" ? 0x1_0000n : 0x2_0000n), { size: 32 }),
  timestamp: "0x1",
})

const newest = 1_000

describe("two nodes behind one address, of which one is on a dead branch up to the block before the final one", () => {
  const missing = { result: null }
  const failing = { error: { code: -32_603, message: "no such block" } }
  for (const [how, there] of [
    ["has nothing there", missing],
    ["fails there", failing],
  ] as const) {
    // Odd and even numbers of them, so that requests are full in the middle of a pair and between two.
    for (const acts of [1, 25, 49, 50, 99]) {
      it.live(`never make a block of the dead branch final: ${acts} asked at once, and the second node ${how}`, () =>
        scoped(
          Effect.gen(function* () {
            let requests = 0
            const { heard, url } = yield* served((calls, response) => {
              requests += 1
              const isBehind = requests === 2
              const one = ({ id, params: [block] }: Call) => {
                const number = block === "finalized" ? newest : Number(block)
                return isBehind && number >= newest
                  ? { id, ...there }
                  : { id, result: blockOn(isBehind ? "b" : "a", number) }
              }
              response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
            })
            const isFinal = Effect.gen(function* () {
              const chain = yield* Chain
              const lookAt = (branch: "a" | "b") => (index: number) => {
                const { hash } = blockOn(branch, 800 + index)
                return Effect.result(chain.isFinal({ number: BigInt(800 + index), hash }))
              }
              const all = Array.from({ length: acts }, (_, index) => index)
              const concurrency = "unbounded"
              return {
                dead: yield* Effect.forEach(all, lookAt("b"), { concurrency }),
                alive: yield* Effect.forEach(all, lookAt("a"), { concurrency }),
              }
            })
            const { alive, dead } = yield* isFinal.pipe(
              Effect.provide(Chain.layer({ rpcUrl: url, finalTag: "finalized", timeout: patient })),
            )
            assert.isAbove(requests, 2)
            assert.isAtMost(Math.max(...heard.map((calls) => [calls].flat().length)), 50)
            assert.deepStrictEqual(
              dead.filter((one) => Result.isSuccess(one) && one.success),
              [],
            )
            assert.isTrue(alive.every((one) => Result.isSuccess(one) && one.success))
          }),
        ),
      )
    }
  }
})

describe("two questions that are asked together", () => {
  it.live("are answered by one request, whatever is asked beside them and however they have to be repeated", () =>
    scoped(
      Effect.gen(function* () {
        let failures = 3
        const { ask, askTogether, heard } = yield* nodeThat((calls, response) => {
          const request = heard.length
          const one = ({ id, params: [name] }: Call) =>
            String(name).startsWith("other") && failures-- > 0
              ? { id, error: { code: -32_603, message: "later" } }
              : { id, result: request }
          response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
        }, patient)
        const pairs = Array.from({ length: 70 }, (_, index) =>
          Effect.map(askTogether(["eth_call", [`one ${index % 40}`]], ["eth_call", [`other ${index}`]]), (both) =>
            both.map(Result.getOrThrow),
          ),
        )
        const lone = Array.from({ length: 7 }, (_, index) =>
          Effect.map(ask("eth_call", [`one ${index}`]), (one) => [one]),
        )
        const answers = yield* Effect.all([...lone, ...pairs], { concurrency: "unbounded" })
        for (const [one, other] of answers.slice(lone.length)) assert.strictEqual(one, other)
        assert.isBelow(failures, 1)
      }),
    ),
  )

  it.live("say each what it was refused with, and are repeated together where one takes all the bytes", () =>
    scoped(
      Effect.gen(function* () {
        const { ask, askTogether, heard } = yield* nodeThat((calls, response) => {
          if ([calls].flat().some(({ params }) => params[0] === "endless"))
            return void response.write("[".padEnd(2_000_000))
          const one = (call: Call) =>
            call.params[0] === "reverts" ? { id: call.id, error: { code: 3, message: "reverted" } } : echo(call)
          return void response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
        }, patient)
        const [both] = yield* Effect.all(
          [askTogether(["eth_call", ["first"]], ["eth_call", ["reverts"]]), Effect.flip(ask("eth_call", ["endless"]))],
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(both.map(Result.match({ onSuccess: String, onFailure: ({ code }) => String(code) })), [
          fine[0],
          "3",
        ])
        assert.deepStrictEqual(heard.map((calls) => [calls].flat().length).sort(), [1, 2, 3])
      }),
    ),
  )
})

describe("a long answer", () => {
  const long = "x".repeat(1_500_000)

  it.live("is read a few at a time, once for all who ask the same, and holds up nobody else", () =>
    scoped(
      Effect.gen(function* () {
        const held: Array<() => void> = []
        const asked = new Map<string, number>()
        const { ask } = yield* nodeThat(
          (calls, response) => {
            const result = ({ params: [name] }: Call) => (String(name).startsWith("long") ? long : "short")
            const text = JSON.stringify(
              isBatch(calls)
                ? calls.map((call) => ({ id: call.id, result: result(call) }))
                : { id: calls.id, result: result(calls) },
            )
            if (isBatch(calls)) return void response.end(text)
            const name = String(calls.params[0])
            asked.set(name, (asked.get(name) ?? 0) + 1)
            // The first time it is found too long; from then on whoever reads it waits.
            if (name.startsWith("long") && asked.get(name) === 2) return void held.push(() => response.end(text))
            return void response.end(text)
          },
          patient,
          4_000_000,
        )
        const longNames = ["long 1", "long 2", "long 3", "long 4", "long 5"]
        const longOnes = yield* Effect.forkChild(
          Effect.forEach(
            [...longNames, ...longNames],
            (name) => Effect.map(ask("eth_getTransactionReceipt", [name]), (answer) => String(answer).length),
            { concurrency: "unbounded" },
          ),
        )
        yield* Effect.repeat(Effect.sleep(5), { until: () => Effect.succeed(held.length === 3) })
        const short = yield* Effect.forEach(
          ["short 1", "short 2"],
          (name) => ask("eth_getTransactionReceipt", [name]),
          { concurrency: "unbounded" },
        )
        assert.deepStrictEqual(short, ["short", "short"])
        assert.strictEqual(held.length, 3, "no more than three are read at once")
        const releasing = yield* Effect.forkChild(
          Effect.forever(
            Effect.andThen(
              Effect.sleep(5),
              Effect.sync(() => held.shift()?.()),
            ),
          ),
        )
        assert.deepStrictEqual(
          yield* Fiber.join(longOnes),
          Array.from({ length: 10 }, () => long.length),
        )
        yield* Fiber.interrupt(releasing)
        assert.deepStrictEqual(
          [...asked.entries()].filter(([name]) => name.startsWith("long")).sort(),
          longNames.map((name) => [name, 2]),
        )
      }),
    ),
  )
})
