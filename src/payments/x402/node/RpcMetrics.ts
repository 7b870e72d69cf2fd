/** Every question to the node, timed by method and by whether it was answered; and the trace it belongs to. */
import { AsyncLocalStorage } from "node:async_hooks"
import { Context, Effect, Exit, Metric, Option } from "effect"
import * as Trace from "../../../platform/Trace.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"

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

const outcomeOf = (exit: Exit.Exit<unknown, ChainUnavailable>) => {
  if (Exit.isSuccess(exit)) return "answered"
  return Option.match(Exit.findErrorOption(exit), {
    onNone: () => "failed" as const,
    onSome: ({ code }) => (code === undefined ? ("failed" as const) : ("refused" as const)),
  })
}

/** Notes how long a question took, and how it ended. */
export const timed =
  (method: string) =>
  <A>(asked: Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, ChainUnavailable> =>
    Effect.flatMap(Trace.current, (parent) => {
      const began = performance.now()
      const noted = Effect.onExit(asked, (exit) => Effect.sync(() => note(method, outcomeOf(exit), began)))
      return parent === undefined ? noted : Effect.withSpan(noted, method, { kind: "client" })
    })

/** The `traceparent` of whoever asks in promises. */
const traces = new AsyncLocalStorage<string>()

/** Runs what asks in promises so that its questions belong to the trace. */
export const inTrace = <A>(parent: string | undefined, run: () => Promise<A>): Promise<A> =>
  parent === undefined ? run() : traces.run(parent, run)

/** The trace that a question in a promise belongs to. */
export const traceOfPromise = (): string | null => traces.getStore() ?? null
