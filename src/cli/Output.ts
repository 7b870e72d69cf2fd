/** The output of a command: the answer on stdout, everything else on stderr, the outcome as exit code. */
import { Config, Console, Effect, Option, Schema } from "effect"
import { isUnsettled, refuse, type Unsettled } from "../buyer/PurchaseError.ts"
import { buyer } from "../server/config/Table.ts"
import { CommandFailure } from "./CommandFailure.ts"

/** Characters that move the cursor, end the line or turn its direction. */
const turning = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Answers are untrusted text: control characters must not reach the terminal. */
export const plain = (text: string) => text.replace(turning, " ")

/** A name within a line: the direction of its letters must not reorder what follows. */
export const isolated = (text: string) => (/^[ -~]*$/u.test(text) ? text : `\u2068${plain(text)}\u2069`)

const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The same value as JSON, with such characters escaped. Line breaks are the document's own. */
const escaped = (json: string) => json.replace(turning, (one) => (one === "\n" ? one : escape(one)))

export const compact = (value: unknown) => escaped(JSON.stringify(value))
export const pretty = (value: unknown) => escaped(JSON.stringify(value, null, 2))

/** The name this program was called by, for hints that can be copied. */
export const programName = Config.option(Config.String("npm_lifecycle_event")).pipe(
  Effect.orElseSucceed(Option.none<string>),
  Effect.map((event) => (Option.isSome(event) && event.value === "buy" ? "npm run buy --" : "spirit-altar")),
)

/** How to resume an open purchase, with the journal that holds it and its altar. */
export const resumeHint = (key: string, data: Option.Option<string>) =>
  Effect.map(programName, (name) => {
    const where = Option.match(data, { onNone: () => "", onSome: (folder) => ` --data ${quoted(folder)}` })
    // A key may begin with two dashes, so it needs `--` before it.
    const call = key.startsWith("-") ? `${where} -- ${key}` : ` ${key}${where}`
    return `To ask for the outcome, without paying again:\n  ${name} acts${call}`
  })

const quoted = (word: string) => (/^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

export type CommandError = Unsettled | CommandFailure

const isFailure = Schema.is(Schema.Struct({ _tag: Schema.String, message: Schema.String }))

/** The members of a failure's document that are for programs. */
const factsOf = (error: object & { readonly _tag: string }) => {
  if (!isUnsettled(error)) return { code: error._tag === "CheckFailed" ? "broken" : "trouble" }
  const key = error.key === undefined ? {} : { key: error.key }
  if (error._tag === "Misrecorded") return { code: "misrecorded", ...key, differences: error.differences }
  return { code: error._tag === "Open" ? "outcome_open" : error.code, ...key }
}

const unreachable = `Is that an altar? Name yours with --url or ${buyer.url.name}, or start a sandbox with npm start.`

/** With `--json`, a failure is a document on stdout, too. */
export const explained = <A, E, R>({ json }: { readonly json: boolean }, doing: Effect.Effect<A, E, R>) =>
  Effect.tapError(doing, (error) =>
    json && isFailure(error)
      ? Console.log(compact({ ok: false, message: error.message, ...factsOf(error) }))
      : Effect.void,
  )

interface OutputFlags {
  readonly json: boolean
  readonly data: Option.Option<string>
}

/** Prints one line for a person or one document for a program; a failure is one sentence on stderr and exit code 1. */
export const show = <A, R>(
  flags: OutputFlags,
  answer: Effect.Effect<A, CommandError, R>,
  render: (answer: A) => string,
): Effect.Effect<void, CommandFailure, R> =>
  explained(
    flags,
    Effect.mapError(answer, (error) =>
      error._tag === "Refused" && error.code === "unreachable"
        ? refuse(error.code, `${error.message} ${unreachable}`, error.key)
        : error,
    ),
  ).pipe(
    Effect.flatMap((value) => Console.log(flags.json ? compact(value) : render(value))),
    Effect.catch(
      Effect.fnUntraced(function* (error: CommandError) {
        const hint = error._tag === "Open" ? `\n${yield* resumeHint(error.key, flags.data)}` : ""
        return yield* new CommandFailure({ message: `${plain(error.message)}${hint}` })
      }),
    ),
  )
