/** Whatever is logged anywhere, as lines that name the request and the trace they belong to. */
import { Cause, Context, Layer, Logger, References } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestIdHeader } from "../http/Observer.ts"
import { type Fields, Lines, type LinesConfig, make } from "./Lines.ts"

const isPlain = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** What an error says; its stack names our own files, and an error of the schema or the driver may quote what it was given. */
const said = (value: unknown): unknown =>
  Cause.isCause(value) ? Cause.pretty(value) : value instanceof Error ? `${value.name}: ${value.message}` : value

/** A message is a sentence, then what it is about: plain objects are fields of the line. */
const partsOf = (message: unknown) => {
  const parts = Array.isArray(message) ? message : [message]
  const fields = Object.assign({}, ...parts.filter(isPlain))
  const sentence = parts.filter((part) => !isPlain(part)).map((part) => String(said(part)))
  return { fields, sentence: sentence.join(" ") }
}

const logger = (lines: Lines) =>
  Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    if (!lines.shows(logLevel)) return
    const { fields, sentence } = partsOf(message)
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    const span = fiber.cache.span
    lines.say(date, logLevel, sentence, {
      ...fields,
      ...fiber.getRef(References.CurrentLogAnnotations),
      request: request?.headers[requestIdHeader],
      ...(span?._tag === "Span" && span.sampled ? { trace: span.traceId, span: span.spanId } : {}),
      cause: cause.reasons.length === 0 ? undefined : Cause.pretty(cause),
    })
  })

/** The lines of this process, for its loggers and for the log of requests. */
export const layer = (config: LinesConfig): Layer.Layer<never> => {
  const lines = make(config)
  return Layer.mergeAll(
    Layer.succeed(Lines, lines),
    Logger.layer([logger(lines)]),
    Layer.succeed(References.MinimumLogLevel, config.level),
  )
}
