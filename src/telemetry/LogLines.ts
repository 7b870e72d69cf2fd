/** Writes the log as lines on stdout, as JSON objects or readable text. A slow reader delays no request. */
import { Context, LogLevel, Result } from "effect"
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
