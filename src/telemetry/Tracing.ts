/** Exports spans by OTLP, sampled and scrubbed. */
import { type Config, Effect, Layer, Option, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import type { RouteName } from "./RouteNames.ts"
import * as Otlp from "./Otlp.ts"

/** Attributes of the framework that are dropped: client addresses, and paths with keys and rooms. */
const untold = new Set(["client.address", "url.full", "url.path", "url.query", "user_agent.original"])

type Sampler = Config.Success<typeof Otlp.sampler>

/**
 * Whether a trace is within a share of all, by its id alone, so that all servers keep the same ones. The last 56 bits
 * of an id are random (OpenTelemetry's TraceIdRatioBased), of which a number holds the upper 52.
 */
export const isIn = (share: number, traceId: string) =>
  Number.parseInt(traceId.slice(-14, -1), 16) >= (1 - share) * 2 ** 52

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0]

/** Our spans follow their parent. Traces that begin here or lack a deciding parent are sampled by their share. */
const isSampled =
  ({ kind, ratio }: Sampler) =>
  ({ parent, sampled }: SpanOptions, span: Tracer.Span) => {
    const share = kind.endsWith("always_on") ? 1 : kind.endsWith("always_off") ? 0 : ratio
    const above = Option.filter(parent, ({ _tag }) => _tag === "Span" || kind.startsWith("parentbased_"))
    return sampled && Option.match(above, { onNone: () => isIn(share, span.traceId), onSome: (outer) => outer.sampled })
  }

const sampled = (sampler: Sampler, tracer: Tracer.Tracer) => {
  const keep = isSampled(sampler)
  return Tracer.make({
    span: (options) => {
      const span = tracer.span(options)
      const tell = span.attribute.bind(span)
      return Object.assign(span, {
        sampled: keep(options, span),
        attribute: (key: string, value: unknown) => (untold.has(key) ? undefined : tell(key, value)),
      })
    },
  })
}

export const layer = (nameOf: RouteName) =>
  Layer.mergeAll(
    Layer.effect(
      Tracer.Tracer,
      Effect.map(Effect.all([Effect.orDie(Otlp.sampler), Effect.tracer]), ([sampling, tracer]) =>
        sampled(sampling, tracer),
      ),
    ).pipe(Layer.provide(Otlp.traces)),
    Layer.succeed(HttpMiddleware.SpanNameGenerator, (request) => `${request.method} ${nameOf(request.url)}`),
  )
