/** The log as lines on stdout: one JSON object each, or a sentence for people; a reader that is slow holds up nobody. */
import { Context, LogLevel, Result } from "effect"
import { scrubbed } from "./Scrub.ts"

export type Format = "json" | "pretty"

/** What a line says beside its time, level and message. */
export type Fields = Readonly<Record<string, unknown>>

export interface LinesConfig {
  readonly format: Format
  readonly level: LogLevel.LogLevel
  /** Of how many good reads one is logged at `Info`; all of them are at `Debug`. */
  readonly readsPerLine: number
}

export interface Writer {
  readonly write: (text: string) => void
  /** Bytes that nobody has read yet. */
  readonly waiting: () => number
}

export interface Lines {
  readonly readsPerLine: number
  readonly shows: (level: LogLevel.LogLevel) => boolean
  /** Never fails and never waits: with a reader that does not read, lines are left out and counted. */
  readonly say: (at: Date, level: LogLevel.LogLevel, message: string, fields: Fields) => void
}

/** Bytes that may wait for the reader. */
const waitingAtMost = 4 * 1_048_576

/** No lines but those of Effect's own logger, unless a layer says otherwise. */
export const Lines = Context.Reference<Lines>("spirit-altar/telemetry/Lines", {
  defaultValue: () => ({ readsPerLine: 1, shows: () => false, say: () => {} }),
})

const ignore = () => {}

/** A log that nobody can be told, for its reader is gone or its disk is full, is no reason to serve nobody. */
const stdout = (): Writer => {
  process.stdout.off("error", ignore).on("error", ignore)
  return {
    write: (text) => void Result.try(() => process.stdout.write(text)),
    waiting: () => process.stdout.writableLength,
  }
}

const exact = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value)

/** Line breaks of a stack stay; nothing else moves the cursor of a terminal. */
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

export const make = ({ format, level: least, readsPerLine }: LinesConfig, writer: Writer = stdout()): Lines => {
  let left = 0
  const shows = (level: LogLevel.LogLevel) => least !== "None" && LogLevel.isGreaterThanOrEqualTo(level, least)
  const write: Lines["say"] = (at, level, message, fields) =>
    writer.write(`${scrubbed(formats[format](at, level, message, fields))}\n`)
  return {
    readsPerLine,
    shows,
    say: (at, level, message, fields) => {
      if (!shows(level)) return
      if (writer.waiting() > waitingAtMost) {
        left += 1
        return
      }
      if (left > 0) write(at, "Warn", "Lines were left out: nobody read the log fast enough", { lines: left })
      left = 0
      write(at, level, message, fields)
    },
  }
}
