/** A node whose answers to questions and batches a test decides. */
import type { ServerResponse } from "node:http"
import { Duration, Effect, Redacted } from "effect"
import * as JsonRpc from "../../src/payments/chain/JsonRpc.ts"
import type { Ask } from "../../src/payments/chain/Rpc.ts"
import { listening } from "./proxy/HttpServer.ts"

export interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** A node's behaviour for one request; `calls` is one call where the request was no batch. */
export type Behaviour = (calls: Call | ReadonlyArray<Call>, response: ServerResponse) => void

export const isBatch = (calls: Call | ReadonlyArray<Call>): calls is ReadonlyArray<Call> => Array.isArray(calls)
export const echo = ({ id, method, params }: Call) => ({ jsonrpc: "2.0", id, result: `${method} ${String(params[0])}` })
export const answerAll = (calls: Call | ReadonlyArray<Call>) =>
  JSON.stringify(isBatch(calls) ? calls.map(echo) : echo(calls))

export const served = Effect.fnUntraced(function* (behave: Behaviour) {
  const heard: Array<Call | ReadonlyArray<Call>> = []
  const url = yield* listening((body, response) => {
    const calls: Call | ReadonlyArray<Call> = JSON.parse(body)
    heard.push(calls)
    behave(calls, response)
  })
  return { heard, url: Redacted.make(url) }
})

export const nodeThat = Effect.fnUntraced(function* (behave: Behaviour, timeout: Duration.Duration, limit?: number) {
  const { heard, url } = yield* served(behave)
  const node = yield* JsonRpc.make({ url, timeout, ...(limit === undefined ? {} : { limit }) })
  return { ...node, heard }
})

/** `first`, `second` … asked at once; each answer or failure. */
export const askAll = (ask: Ask, names: ReadonlyArray<string>) =>
  Effect.forEach(
    names,
    (name) =>
      ask("eth_call", [name]).pipe(
        Effect.match({ onSuccess: String, onFailure: ({ code, reason, status }) => String(code ?? status ?? reason) }),
      ),
    { concurrency: "unbounded" },
  )

export const patient = Duration.seconds(30)
export const names = ["first", "second", "third"]
export const fine = names.map((name) => `eth_call ${name}`)
