/** Every question to the node, timed by method and by whether it was answered; and the trace it belongs to. */
import { AsyncLocalStorage } from "node:async_hooks"
import { Context, Metric } from "effect"
import { BaseError, type EIP1193RequestFn, RpcRequestError, type Transport } from "viem"

const durations = Metric.histogram("altar.rpc.duration", {
  description: "Duration of JSON-RPC questions to the node, by method and outcome: answered, refused or failed.",
  attributes: { unit: "s" },
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})

const nowhere = Context.empty()
const series = new Map<string, typeof durations>()

const note = (method: string, outcome: "answered" | "refused" | "failed", began: number) => {
  const key = `${method} ${outcome}`
  const known = series.get(key) ?? Metric.withAttributes(durations, { "rpc.method": method, outcome })
  series.set(key, known)
  known.updateUnsafe((performance.now() - began) / 1000, nowhere)
}

const isRefusal = (error: unknown) =>
  error instanceof BaseError && error.walk((inner) => inner instanceof RpcRequestError) !== null

const methodOf = (asked: unknown): string =>
  typeof asked === "object" && asked !== null && "method" in asked ? String(asked.method) : "unknown"

/** A transport that notes what is asked through it; the question and its options go on as they are. */
export const timed =
  <Type extends string, Attributes, Request extends EIP1193RequestFn>(
    transport: Transport<Type, Attributes, Request>,
  ): Transport<Type, Attributes, Request> =>
  (options) => {
    const made = transport(options)
    const request = new Proxy(made.request, {
      apply: (ask, self, [asked, ...rest]) => {
        const began = performance.now()
        const answer: Promise<unknown> = Reflect.apply(ask, self, [asked, ...rest])
        const method = methodOf(asked)
        answer.then(
          () => note(method, "answered", began),
          (error: unknown) => note(method, isRefusal(error) ? "refused" : "failed", began),
        )
        return answer
      },
    })
    return { ...made, request }
  }

/** The `traceparent` of whoever asks first of those whose questions travel together. */
const traces = new AsyncLocalStorage<string>()

/** Runs a question so that the node is told of the trace. */
export const inTrace = <A>(parent: string | undefined, run: () => Promise<A>): Promise<A> =>
  parent === undefined ? run() : traces.run(parent, run)

/** Adds the trace to the request that is made now, if there is one. */
export const withTrace = (
  { url }: Request,
  init: RequestInit,
): (RequestInit & { readonly url: string }) | undefined => {
  const parent = traces.getStore()
  if (parent === undefined) return undefined
  const headers = new Headers(init.headers)
  headers.set("traceparent", parent)
  return { ...init, headers, url }
}
