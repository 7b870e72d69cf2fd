/** The output of a command: the answer on stdout, everything else on stderr. */
import { Console, Effect } from "effect"
import { GlobalFlag } from "effect/cli"
import { on } from "./Define.ts"

/** Characters that move the cursor, end the line or turn its direction. */
const turning = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Answers are untrusted text: control characters must not reach the terminal. */
export const plain = (text: string) => text.replace(turning, " ")

/** A name within a line: the direction of its letters must not reorder what follows. */
export const isolated = (text: string) => (/^[ -~]*$/u.test(text) ? text : `\u2068${plain(text)}\u2069`)

const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The same value as JSON, with such characters escaped. Line breaks are the document's own. */
const escaped = (json: string) => json.replace(turning, (sign) => (sign === "\n" ? sign : escape(sign)))

export const compact = (value: unknown) => escaped(JSON.stringify(value))
export const pretty = (value: unknown) => escaped(JSON.stringify(value, null, 2))

export const Json = GlobalFlag.Setting("json")({
  flag: on("json", "One JSON document on stdout, also for a failure; everything else goes to stderr"),
})

/** Prints an answer: the document with `--json`, otherwise the text. */
export const print = (document: unknown, text: string) =>
  Effect.flatMap(Json, (isJson) => Console.log(isJson ? compact(document) : text))

/** A line of a command that tells its progress; with `--json` it goes to stderr. */
export const say = (line: string) =>
  Effect.flatMap(Json, (isJson) => (isJson ? Console.error(line) : Console.log(line)))

/** Ends a command that has told everything: with `--json` its document says that all went well. */
export const done = Effect.flatMap(Json, (isJson) => (isJson ? Console.log(compact({ ok: true })) : Effect.void))

export const age = (seconds: number) =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`
