/** Formats every log message as a line with its request and trace. */
import { Cause, Context, Layer, Logger, References } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestIdOf } from "../http/Exchange.ts"
import { type Fields, LogLines, type LogLinesConfig, make } from "./LogLines.ts"

const isPlain = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The text of an error. Its stack names our own files, and errors of schemas or the driver may quote their input. */
const textOf = (value: unknown): string =>
  Cause.isCause(value)
    ? Cause.pretty(value)
    : value instanceof Error
      ? `${value.name}: ${value.message}`
      : String(value)

/** Splits what was logged into the message, its fields, which are the plain objects, and the text of errors. */
const partsOf = (logged: unknown) => {
  const [message, ...details] = Array.isArray(logged) ? logged : [logged]
  const fields = Object.assign({}, ...details.filter(isPlain))
  const errors = details.filter((one) => !isPlain(one)).map(textOf)
  return { message: textOf(message), fields, cause: errors.length === 0 ? undefined : errors.join(" ") }
}

const logger = (lines: LogLines) =>
  Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    if (!lines.isEnabled(logLevel)) return
    const parts = partsOf(message)
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    const span = fiber.cache.span
    lines.write(date, logLevel, parts.message, {
      ...parts.fields,
      ...fiber.getRef(References.CurrentLogAnnotations),
      request: request === undefined ? undefined : requestIdOf(request),
      ...(span?._tag === "Span" && span.sampled ? { trace: span.traceId, span: span.spanId } : {}),
      cause: cause.reasons.length === 0 ? parts.cause : Cause.pretty(cause),
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
