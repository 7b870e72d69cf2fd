/** Questions to the node travel together, are as fresh as if they had travelled alone, fail alone, and are logged without secrets. */
import { inspect } from "node:util"
import type { ServerResponse } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "../lab/It.ts"
import { Cause, Duration, Effect, Fiber, Logger, Option, Redacted, Schema } from "effect"
import * as JsonRpc from "../../src/payments/x402/chain/JsonRpc.ts"
import { type Rehearsal, rehearsal } from "../../src/payments/x402/chain/Questions.ts"
import { log } from "../../src/platform/LogMessages.ts"
import { type Ask, both, question, revertOf } from "../../src/payments/x402/chain/Rpc.ts"
import { listening } from "../lab/proxy/HttpServer.ts"
import { assertEach } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** A node's behaviour for one request; `calls` is one call where the request was no batch. */
type Behaviour = (calls: Call | ReadonlyArray<Call>, response: ServerResponse) => void

const isBatch = (calls: Call | ReadonlyArray<Call>): calls is ReadonlyArray<Call> => Array.isArray(calls)
const echo = ({ id, method, params }: Call) => ({ jsonrpc: "2.0", id, result: `${method} ${String(params[0])}` })
const answerAll = (calls: Call | ReadonlyArray<Call>) => JSON.stringify(isBatch(calls) ? calls.map(echo) : echo(calls))

const served = Effect.fnUntraced(function* (behave: Behaviour) {
  const heard: Array<Call | ReadonlyArray<Call>> = []
  const url = yield* listening((body, response) => {
    const calls: Call | ReadonlyArray<Call> = JSON.parse(body)
    heard.push(calls)
    behave(calls, response)
  })
  return { heard, url: Redacted.make(url) }
})

const nodeThat = Effect.fnUntraced(function* (behave: Behaviour, timeout: Duration.Duration, limit?: number) {
  const { heard, url } = yield* served(behave)
  const node = yield* JsonRpc.make({ url, timeout, ...(limit === undefined ? {} : { limit }) })
  return { ...node, heard }
})

/** A call whose answer may be anything. */
const calling = (method: string, ...params: ReadonlyArray<unknown>) => question(method, Schema.Unknown)(...params)

/** `first`, `second` … asked at once; each answer or failure. */
const askAll = (ask: Ask, names: ReadonlyArray<string>) =>
  Effect.forEach(
    names,
    (name) =>
      ask(calling("eth_call", name)).pipe(
        Effect.match({ onSuccess: String, onFailure: ({ code, reason, status }) => String(code ?? status ?? reason) }),
      ),
    { concurrency: "unbounded" },
  )

const patient = Duration.seconds(30)
const names = ["first", "second", "third"]
const fine = names.map((name) => `eth_call ${name}`)

const undici = NodeHttpClient.layerUndici

/** Does as the first parameters say: it reverts, or answers without an end or never. */
const behave: Behaviour = (calls, response) => {
  const named = (name: string) => [calls].flat().some(({ params }) => params[0] === name)
  if (named("endless")) return void response.write("[".padEnd(2_000_000))
  if (named("never")) return undefined
  const one = (call: Call) =>
    call.params[0] === "reverts" ? { id: call.id, error: { code: 3, message: "reverted" } } : echo(call)
  return void response.end(JSON.stringify(isBatch(calls) ? calls.map(one) : one(calls)))
}

layer(undici, realClock)("calls to the node", (it) => {
  it.effect("share one request when they are concurrent, equal calls once, and fifty at most", function* () {
    const { ask, heard } = yield* nodeThat((calls, response) => response.end(answerAll(calls)), patient)
    assert.deepStrictEqual(yield* askAll(ask, [...names, "first", "first"]), [...fine, fine[0], fine[0]])
    assertEach(heard, (calls) => [calls].flat().length, [3])
    const many = Array.from({ length: 120 }, (_, index) => String(index))
    assert.deepStrictEqual(
      yield* askAll(ask, many),
      many.map((name) => `eth_call ${name}`),
    )
    // They travel side by side, over connections of their own: their order of arrival is not defined.
    const sizes = heard.slice(1).map((calls) => [calls].flat().length)
    assert.deepStrictEqual(
      sizes.sort((one, other) => other - one),
      [50, 50, 20],
    )
  })

  it.effect("never share the answer to an earlier request", function* () {
    let block = 0
    const held = Promise.withResolvers<() => void>()
    const { ask } = yield* nodeThat((calls, response) => {
      block += 1
      const text = JSON.stringify({ id: [calls].flat()[0]?.id, result: block })
      if (block === 1) held.resolve(() => response.end(text))
      else response.end(text)
    }, patient)
    const early = yield* Effect.forkChild(ask(calling("eth_blockNumber")))
    const release = yield* Effect.promise(() => held.promise)
    assert.strictEqual(yield* ask(calling("eth_blockNumber")), 2)
    release()
    assert.strictEqual(yield* Fiber.join(early), 1)
  })

  it.effect("continue when the first caller leaves", function* () {
    const held = Promise.withResolvers<() => void>()
    const { ask } = yield* nodeThat((calls, response) => held.resolve(() => response.end(answerAll(calls))), patient)
    const first = yield* Effect.forkChild(ask(calling("eth_call", "first")))
    const second = yield* Effect.forkChild(ask(calling("eth_call", "first")))
    const release = yield* Effect.promise(() => held.promise)
    yield* Fiber.interrupt(first)
    release()
    assert.strictEqual(yield* Fiber.join(second), fine[0])
  })

  const partial: ReadonlyArray<
    readonly [what: string, answers: (calls: ReadonlyArray<Call>) => ReadonlyArray<unknown>]
  > = [
    ["leaves one out", (calls) => calls.slice(1).map(echo)],
    ["answers in another order", (calls) => calls.map(echo).toReversed()],
    ["answers one with what is no answer", (calls) => ["?", ...calls.slice(1).map(echo)]],
    ["answers one without a result", ([first, ...calls]) => [{ id: first?.id }, ...calls.map(echo)]],
  ]
  it.effect.each(partial)("get the right answers from a node that %s", function* ([, answers]) {
    const { ask } = yield* nodeThat(
      (calls, response) => response.end(isBatch(calls) ? JSON.stringify(answers(calls)) : answerAll(calls)),
      patient,
    )
    assert.deepStrictEqual(yield* askAll(ask, names), fine)
  })

  it.effect.each([
    ["with a status", 400, "no batches"],
    ["with an error", 200, '{"id":null,"error":{"code":-32600,"message":"no batches"}}'],
    ["with nonsense", 200, "<html>"],
  ] as const)("are sent one by one after batches are refused %s", ([, status, text]) =>
    Effect.gen(function* () {
      const { ask, heard } = yield* nodeThat(
        (calls, response) => (isBatch(calls) ? response.writeHead(status).end(text) : response.end(answerAll(calls))),
        patient,
      )
      for (const _ of ["first", "again"]) assert.deepStrictEqual(yield* askAll(ask, names), fine)
      if (text !== "<html>") assert.strictEqual(heard.filter(isBatch).length, 1, "and that is remembered")
    }),
  )

  it.effect("fail alone: by an error of their own, by their length, or by their time", function* () {
    const { ask } = yield* nodeThat(behave, patient)
    assert.deepStrictEqual(yield* askAll(ask, ["first", "reverts"]), [fine[0], "3"])
    assert.deepStrictEqual(yield* askAll(ask, ["first", "endless"]), [fine[0], "AnswerTooLarge"])
    const hurried = yield* nodeThat(behave, Duration.seconds(1))
    assert.deepStrictEqual(yield* askAll(hurried.ask, ["first", "never"]), [fine[0], "TimeoutError"])
  })

  it.effect("end in time although the node sends a byte now and then for ever", function* () {
    const { ask } = yield* nodeThat((_, response) => {
      const drip = setInterval(() => response.write(" "), 20)
      response.on("close", () => clearInterval(drip))
    }, Duration.millis(200))
    assert.deepStrictEqual(yield* askAll(ask, ["first"]), ["TimeoutError"])
  })

  it.effect("are repeated once after a transient failure, and the unrepeatable ones are sent once", function* () {
    const { ask, heard, once } = yield* nodeThat((_, response) => response.writeHead(503).end(), patient)
    assert.deepStrictEqual(yield* askAll(ask, ["first"]), ["503"])
    assert.strictEqual(heard.length, 2)
    yield* Effect.flip(once(calling("eth_sendRawTransaction", "0x")))
    assert.strictEqual(heard.length, 3)
  })
})

layer(undici, realClock)("a long answer", (it) => {
  const long = "x".repeat(1_500_000)

  it.effect("is read by three calls at once at most, and delays no short one", function* () {
    const held: Array<() => void> = []
    const found = new Set<string>()
    const { ask } = yield* nodeThat(
      (calls, response) => {
        const answers = [calls].flat().map(({ id, params: [name] }) => ({ id, result: name === "short" ? name : long }))
        const text = JSON.stringify(isBatch(calls) ? answers : answers[0])
        if (isBatch(calls)) return void response.end(text)
        const name = String(calls.params[0])
        // The first time it is found too long; from then on every reader waits.
        if (found.has(name)) return void held.push(() => response.end(text))
        if (name !== "short") found.add(name)
        return void response.end(text)
      },
      patient,
      4_000_000,
    )
    const receipts = (transactions: ReadonlyArray<string>) =>
      Effect.forEach(transactions, (one) => Effect.map(ask(calling("eth_getTransactionReceipt", one)), String), {
        concurrency: "unbounded",
      })
    const longOnes = yield* Effect.forkChild(receipts(["1", "2", "3", "4", "5"]))
    yield* Effect.repeat(Effect.sleep(5), { until: () => Effect.succeed(held.length === 3) })
    assert.deepStrictEqual(yield* receipts(["short"]), ["short"])
    assert.strictEqual(held.length, 3, "no more than three are read at once")
    const release = Effect.sync(() => held.shift()?.())
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(5), release)))
    assertEach(yield* Fiber.join(longOnes), ({ length }) => length, Array(5).fill(long.length))
  })
})

const secret = "SECRETKEY"
const signing = calling("eth_call", { data: "SIGNATURE" })

const nodes: ReadonlyArray<readonly [what: string, status: number, body: string]> = [
  ["a refusal", 404, "slow down"],
  ["an error of the node", 200, '{"id":1,"error":{"code":3,"message":"execution reverted","data":"0x"}}'],
  ["an answer that makes no sense", 200, "<html>SECRETKEY</html>"],
  ["nothing", 0, ""],
]

const addressOf = Effect.fnUntraced(function* (status: number, body: string) {
  const base =
    status === 0 ? "http://127.0.0.1:1" : yield* listening((_, response) => response.writeHead(status).end(body))
  return `${base}/v2/${secret}`
})

const logged = (error: Error) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make((options) => void lines.push(Logger.formatJson.log(options)))
    yield* log("chain inquiry failed", {}, error).pipe(
      Effect.andThen(log("sweep failed", {}, Cause.fail(error))),
      Effect.provide(Logger.layer([logger])),
    )
    return lines.join("\n") + inspect(error, { depth: 9 }) + String(error)
  })

const transfer: Rehearsal = {
  to: `0x${"51".repeat(20)}`,
  data: "0x51",
  gas: 1n,
  fee: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
}

layer(undici, realClock)("an unreachable node", (it) => {
  it.effect.each(nodes)("is logged without its key after %s", function* ([, status, body]) {
    const url = Redacted.make(yield* addressOf(status, body))
    const node = yield* JsonRpc.make({ url, timeout: Duration.seconds(10) })
    const ours = yield* Effect.flip(node.ask(signing))
    const relayers = yield* Effect.flip(node.ask(rehearsal(transfer.to, transfer, "latest")))
    assert.include(yield* logged(ours), "eth_call")
    assert.include(relayers.detail ?? relayers.message, relayers.code === undefined ? "eth_call" : "execution reverted")
    for (const error of [ours, relayers]) assert.notMatch(yield* logged(error), /SECRETKEY|SIGNATURE|127\.0\.0\.1/u)
  })
})

layer(undici, realClock)("calls that are asked together", (it) => {
  it.effect("reports each refusal, and repeats together when one answer takes all the bytes", function* () {
    const { ask, heard } = yield* nodeThat(behave, patient)
    const asked = both(calling("eth_call", "first"), revertOf(calling("eth_call", "reverts")))
    const [answers] = yield* Effect.all([ask(asked), Effect.flip(ask(calling("eth_call", "endless")))], {
      concurrency: "unbounded",
    })
    assert.deepStrictEqual(answers, [fine[0], Option.some("reverted ")])
    assert.deepStrictEqual(heard.map((calls) => [calls].flat().length).sort(), [1, 2, 3])
  })
})
