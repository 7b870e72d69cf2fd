/** Spans to a collector by OTLP: which are kept, and what never stands in them. Without an endpoint there are none. */
import { Effect, Layer, Option, Redacted, Result, Schema, Tracer } from "effect"
import { HttpMiddleware } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import type { RouteName } from "./RouteNames.ts"
import { scrubbed } from "./Scrub.ts"
import { version } from "../platform/Software.ts"
import type { OtlpConfig } from "./TelemetryConfig.ts"

/** What the framework would tell of a request: where it came from, and paths with keys and rooms in them. */
const untold = new Set(["client.address", "url.full", "url.path", "url.query", "user_agent.original"])

const isIn = (share: number) => (share >= 1 ? true : Math.random() < share)

/** Whether a trace that begins here is kept, and whether who began one elsewhere decides. */
const samplers = {
  always_on: { isParentHeard: false, share: () => 1 },
  always_off: { isParentHeard: false, share: () => 0 },
  traceidratio: { isParentHeard: false, share: (ratio: number) => ratio },
  parentbased_always_on: { isParentHeard: true, share: () => 1 },
  parentbased_always_off: { isParentHeard: true, share: () => 0 },
  parentbased_traceidratio: { isParentHeard: true, share: (ratio: number) => ratio },
} as const

type SpanOptions = Parameters<Tracer.Tracer["span"]>[0]

/** Our own spans follow their parent; only what begins here, or comes from elsewhere, is drawn. */
const isSampled = ({ ratio, sampler }: OtlpConfig) => {
  const { isParentHeard, share } = samplers[sampler]
  return ({ parent, sampled }: SpanOptions) =>
    sampled &&
    Option.match(parent, {
      onNone: () => isIn(share(ratio)),
      onSome: (above) => (above._tag === "Span" || isParentHeard ? above.sampled : isIn(share(ratio))),
    })
}

const telling = (span: Tracer.Span): Tracer.Span => {
  const tell = span.attribute.bind(span)
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => (untold.has(key) ? undefined : tell(key, value)),
  })
}

const sampling = (config: OtlpConfig, tracer: Tracer.Tracer) => {
  const keep = isSampled(config)
  return Tracer.make({ span: (options) => telling(tracer.span({ ...options, sampled: keep(options) })) })
}

const parse = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** Failures quote what they were given: a batch is scrubbed as a whole before it leaves. */
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
