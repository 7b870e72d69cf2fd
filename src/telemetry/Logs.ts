/** Formats every log message as a line with its request and trace. */
import { Cause, Context, Layer, Logger, References } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestIdHeader } from "../http/Observer.ts"
import { type Fields, LogLines, type LogLinesConfig, make } from "./LogLines.ts"

const isPlain = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The text of an error. Its stack names our own files, and errors of schemas or the driver may quote their input. */
const said = (value: unknown): unknown =>
  Cause.isCause(value) ? Cause.pretty(value) : value instanceof Error ? `${value.name}: ${value.message}` : value

/** Splits a message into its sentence and its fields, which are the plain objects. */
const partsOf = (message: unknown) => {
  const parts = Array.isArray(message) ? message : [message]
  const fields = Object.assign({}, ...parts.filter(isPlain))
  const sentence = parts.filter((part) => !isPlain(part)).map((part) => String(said(part)))
  return { fields, sentence: sentence.join(" ") }
}

const logger = (lines: LogLines) =>
  Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    if (!lines.isEnabled(logLevel)) return
    const { fields, sentence } = partsOf(message)
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    const span = fiber.cache.span
    lines.write(date, logLevel, sentence, {
      ...fields,
      ...fiber.getRef(References.CurrentLogAnnotations),
      request: request?.headers[requestIdHeader],
      ...(span?._tag === "Span" && span.sampled ? { trace: span.traceId, span: span.spanId } : {}),
      cause: cause.reasons.length === 0 ? undefined : Cause.pretty(cause),
    })
  })

/** The lines of this process, for its loggers and for the log of requests. */
export const layer = (config: LogLinesConfig): Layer.Layer<never> => {
  const lines = make(config)
  return Layer.mergeAll(
    Layer.succeed(LogLines, lines),
    Logger.layer([logger(lines)]),
    Layer.succeed(References.MinimumLogLevel, config.level),
  )
}
