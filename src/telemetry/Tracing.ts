/** Exports spans by OTLP, sampled and scrubbed. Without an endpoint there are none. */
import { Effect, Layer, Option, Redacted, Result, Schema, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import type { RouteName } from "./RouteNames.ts"
import { scrubbed } from "./Scrub.ts"
import { version } from "../platform/Software.ts"
import type { OtlpConfig } from "./TelemetryConfig.ts"

/** Attributes of the framework that are dropped: client addresses, and paths with keys and rooms. */
const untold = new Set(["client.address", "url.full", "url.path", "url.query", "user_agent.original"])

/**
 * Whether a trace is within a share of all, by its id alone, so that all servers keep the same ones. The last 56 bits
 * of an id are random (OpenTelemetry's TraceIdRatioBased), of which a number holds the upper 52.
 */
export const isIn = (share: number, traceId: string) =>
  Number.parseInt(traceId.slice(-14, -1), 16) >= (1 - share) * 2 ** 52

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0]

/** Our spans follow their parent. Traces that begin here or lack a deciding parent are sampled by their share. */
const isSampled =
  ({ ratio, sampler }: OtlpConfig) =>
  ({ parent, sampled }: SpanOptions, span: Tracer.Span) => {
    const share = sampler.endsWith("always_on") ? 1 : sampler.endsWith("always_off") ? 0 : ratio
    const above = Option.filter(parent, ({ _tag }) => _tag === "Span" || sampler.startsWith("parentbased_"))
    return sampled && Option.match(above, { onNone: () => isIn(share, span.traceId), onSome: (one) => one.sampled })
  }

const sampling = (config: OtlpConfig, tracer: Tracer.Tracer) => {
  const keep = isSampled(config)
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

const parse = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** Scrubs each batch as a whole, since failures quote their input. */
const scrubbing = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (plain) => ({
    ...plain,
    traces: (data: Parameters<typeof plain.traces>[0]) =>
      plain.traces(
        Object.assign(
          {},
          data,
          Result.getOrElse(parse(scrubbed(JSON.stringify(data))), () => ({})),
        ),
      ),
  })),
)

export const serialization = ({ protocol }: OtlpConfig) =>
  scrubbing.pipe(
    Layer.provide(protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf),
  )

export const resourceOf = ({ attributes, serviceName }: OtlpConfig) => ({
  serviceName,
  serviceVersion: attributes["service.version"] ?? version,
  attributes,
})

export const layer = (config: OtlpConfig, url: string, nameOf: RouteName) =>
  Layer.mergeAll(
    Layer.effect(
      Tracer.Tracer,
      Effect.map(
        OtlpTracer.make({ url, headers: Redacted.value(config.headers), resource: resourceOf(config) }),
        (tracer) => sampling(config, tracer),
      ),
    ).pipe(Layer.provide(OtlpExporter.layerFlusher), Layer.provide(serialization(config))),
    Layer.succeed(HttpMiddleware.SpanNameGenerator, (request) => `${request.method} ${nameOf(request.url)}`),
  )
