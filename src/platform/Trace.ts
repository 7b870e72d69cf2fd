/** W3C trace context as text, for other services and for stored attempts. */
import { Effect, Option, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/** The `traceparent` of the current sampled span; undefined without one or without a collector. */
export const current: Effect.Effect<string | undefined> = Effect.withFiber((fiber) => {
  const { span, tracer } = fiber.cache
  return Effect.succeed(
    span === undefined || !span.sampled || tracer === undefined || tracer === Tracer.nativeTracer
      ? undefined
      : `00-${span.traceId}-${span.spanId}-01`,
  )
})

/** A span on the path of every request. Without a collector it costs nothing. */
export const span =
  (name: string, options?: Tracer.SpanOptionsNoTrace) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ cache }): Effect.Effect<A, E, R> =>
      cache.tracerEnabled ? Effect.withSpan(effect, name, options) : effect,
    )

/** Sets the route attribute that the router sets on its own spans. Without a collector it costs nothing. */
export const routed =
  (route: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ cache }) => {
      if (cache.tracerEnabled && cache.span?._tag === "Span") cache.span.attribute("http.route", route)
      return effect
    })

/** Continues a stored trace, unless there is a current span. */
export const goingOn =
  (traceparent: string | null) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Option.match(HttpTraceContext.w3c(Headers.fromInput({ traceparent: traceparent ?? "" })), {
      onNone: () => effect,
      onSome: (span) => Effect.withParentSpan(effect, span),
    })
