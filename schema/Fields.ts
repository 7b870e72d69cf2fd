/** Bounded values: the length, range and form of everything on the wire, as the document states them. */
import { Schema, SchemaTransformation } from "effect"

/** A string whose pattern matches `minimum` to `maximum` ASCII characters, all of one length by default. */
export const patterned = (pattern: RegExp, maximum: number, minimum = maximum) =>
  Schema.String.check(
    Schema.isPattern(pattern, {
      toJsonSchema: () => ({ pattern: pattern.source, minLength: minimum, maxLength: maximum }),
    }),
  )

/** Any text that UTF-8 can carry; a quoted request may contain control characters. */
export const anyText = /^[^\p{Cs}]*$/u

/** Text without control characters, and its maximum in code points. */
export const oneLine = /^[^\p{Cc}\p{Cs}]*$/u

export const lineMaximum = 500

/**
 * Text that the server writes: one line, at most `maximum` code points. Only the tests enforce the bound: no answer
 * about money is withheld because a sentence is long.
 */
export const sentence = (example: string, maximum = lineMaximum, pattern: RegExp = oneLine) =>
  Schema.String.check(
    Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: pattern.source, maxLength: maximum }) }),
  ).annotate({ examples: [example] })

/** A header that the server sends, at most `maximum` bytes: always its example, unless a pattern says more. */
export const header = (
  description: string,
  example: string,
  pattern: RegExp = new RegExp(`^${example}$`, "u"),
  maximum = 256,
) => sentence(example, maximum, pattern).annotate({ description })

export const waitSeconds = (description = "Seconds to wait.") =>
  patterned(/^[1-9][0-9]{0,5}$/u, 6, 1).annotate({ description, examples: ["5"] })

/** A header with Base64 of JSON. */
export const base64 = (description: string, example: string) =>
  sentence(example, 16_384, /^[A-Za-z0-9+/]+={0,2}$/u).annotate({ description })

/** A path on this server, or a template of one. */
export const path = (example: string) => sentence(example, 200, /^\/[!-~]*$/u)

/** A whole number from 0. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({
  identifier: "Count",
  description: "A whole number from 0.",
  examples: [0],
})

/** A whole number from 1. */
export const Position = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
  identifier: "Position",
  description: "A whole number from 1.",
  examples: [1],
})

export const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** A whole number in a query: decimal digits only. `default` is documentation; the handler applies it. */
export const whole = (of: {
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
  readonly description: string
}) => {
  const { description, maximum = Number.MAX_SAFE_INTEGER, minimum = 1 } = of
  const range = { minimum, maximum, ...(of.default === undefined ? {} : { default: of.default }) }
  const digits = Schema.isPattern(/^[0-9]+$/u, {
    message: "Must be decimal digits only",
    toJsonSchema: () => ({ pattern: "^[0-9]+$", ...range }),
  })
  return Schema.String.check(digits)
    .annotate({ description, examples: [String(of.default ?? 417)] })
    .pipe(
      Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum, maximum })), SchemaTransformation.numberFromString),
    )
}

/** A list of alternatives in a sentence: `1, 7 or 30`. */
export const oneOf = (choices: ReadonlyArray<string | number>): string =>
  `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`

/** A list of at most `maximum` items; the maximum is documented and not checked at run time. */
export const listOf = <Item extends Schema.Top>(item: Item, maximum: number) =>
  Schema.Array(item).check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ maxItems: maximum }) }))
