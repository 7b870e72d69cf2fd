/** Writes log messages, each with its request and trace, as lines on stdout: JSON objects or readable text. */
import { Cause, Context, Layer, Logger, LogLevel, References, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { requestIdOf } from "../http/Exchange.ts"
import { scrubbed } from "./Scrub.ts"

export type Format = "json" | "pretty"

/** Structured fields of a line. */
export type Fields = Readonly<Record<string, unknown>>

export interface LogLinesConfig {
  readonly format: Format
  readonly level: LogLevel.LogLevel
}

export interface Writer {
  readonly write: (text: string) => void
  /** Bytes that the reader has not taken yet. */
  readonly waiting: () => number
}

export interface LogLines {
  readonly isEnabled: (level: LogLevel.LogLevel) => boolean
  /** Never fails or waits. If the reader is too slow, lines are dropped and counted. */
  readonly write: (at: Date, level: LogLevel.LogLevel, message: string, fields: Fields) => void
}

/** Maximum bytes that may wait for the reader. */
const waitingMaximum = 4 * 1_048_576

/** Writes nothing by default. Effect's own logger still runs. */
export const LogLines = Context.Reference<LogLines>("spirit-altar/telemetry/LogLines", {
  defaultValue: () => ({ isEnabled: () => false, write: () => {} }),
})

const ignore = () => {}

/** Ignores write errors: a closed reader or a full disk must not stop the server. */
const stdout = (): Writer => {
  process.stdout.off("error", ignore).on("error", ignore)
  return {
    write: (text) => void Result.try(() => process.stdout.write(text)),
    waiting: () => process.stdout.writableLength,
  }
}

const exact = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value)

/** Keeps line breaks of a stack and removes all other control characters, which could steer a terminal. */
const shown = (value: unknown) =>
  (typeof value === "string" ? value : (JSON.stringify(value, exact) ?? "")).replace(/[^\P{Cc}\n]/gu, " ")

const formats: Readonly<
  Record<Format, (at: Date, level: LogLevel.LogLevel, message: string, fields: Fields) => string>
> = {
  json: (at, level, message, fields) =>
    JSON.stringify({ time: at.toISOString(), level: level.toLowerCase(), message, ...fields }, exact),
  pretty: (at, level, message, fields) =>
    [
      at.toISOString().slice(11, 23),
      level.toUpperCase().padEnd(5),
      shown(message),
      ...Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${shown(value)}`])),
    ].join(" "),
}

export const make = ({ format, level: least }: LogLinesConfig, writer: Writer = stdout()): LogLines => {
  let left = 0
  const isEnabled = (level: LogLevel.LogLevel) => least !== "None" && LogLevel.isGreaterThanOrEqualTo(level, least)
  const write: LogLines["write"] = (at, level, message, fields) =>
    writer.write(`${scrubbed(formats[format](at, level, message, fields))}\n`)
  return {
    isEnabled,
    write: (at, level, message, fields) => {
      if (!isEnabled(level)) return
      if (writer.waiting() > waitingMaximum) {
        left += 1
        return
      }
      if (left > 0) write(at, "Warn", "Log lines were dropped: the output was read too slowly", { lines: left })
      left = 0
      write(at, level, message, fields)
    },
  }
}

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
  const fields = Object.fromEntries(details.filter(isPlain).flatMap(Object.entries))
  const errors = details.filter((detail) => !isPlain(detail)).map(textOf)
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
