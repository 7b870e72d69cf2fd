/** How values are bounded, so that the document says the length, range and form of everything that crosses the wire. */
import { Schema, SchemaTransformation } from "effect"

/** A string whose pattern allows `minimum` to `maximum` ASCII characters, all of one length by default; the document says both. */
export const shaped = (pattern: RegExp, maximum: number, minimum = maximum) =>
  Schema.String.check(
    Schema.isPattern(pattern, {
      toJsonSchema: () => ({ pattern: pattern.source, minLength: minimum, maxLength: maximum }),
    }),
  )

/** Any text that UTF-8 can carry: control characters of a quoted request may be in it. */
export const anyText = /^[^\p{Cs}]*$/u

const oneLine = /^[^\p{Cc}\p{Cs}]*$/u

/**
 * Text that the server writes: one line, at most `maximum` code points. The document says so and the tests hold every
 * answer against it; nothing refuses at run time, because no answer about money is withheld for a long sentence.
 */
export const sentence = (example: string, maximum = 500, pattern: RegExp = oneLine) =>
  Schema.String.check(
    Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: pattern.source, maxLength: maximum }) }),
  ).annotate({ examples: [example] })

/** A header that the server sends: visible ASCII, at most `maximum` bytes. */
export const header = (description: string, example: string, maximum = 256) =>
  sentence(example, maximum, /^[ -~]*$/u).annotate({ description })

/** A header that says how many seconds to wait. */
export const waitSeconds = (example: string, description = "Seconds to wait.") =>
  shaped(/^[0-9]{1,6}$/u, 6, 1).annotate({ description, examples: [example] })

/** A header that holds Base64 of JSON. */
export const base64 = (description: string, example: string) =>
  sentence(example, 16_384, /^[A-Za-z0-9+/]+={0,2}$/u).annotate({ description })

/** A path on this server, or a template of one. */
export const path = (example: string) => sentence(example, 200, /^\/[!-~]*$/u)

/** A whole number from 0: how many. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).annotate({
  examples: [0],
})

/** A whole number from 1: which one. */
export const Position = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
  examples: [1],
})

/** A whole number of a few, 1 to `maximum`. */
export const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/**
 * A whole number in a query: decimal digits and nothing else, no sign, point, exponent or space. The document reads
 * range and description here; `default` is what the handler takes when the query is absent.
 */
export const whole = (of: {
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
  readonly description: string
}) => {
  const { description, maximum = Number.MAX_SAFE_INTEGER, minimum = 1 } = of
  const range = { minimum, maximum, ...(of.default === undefined ? {} : { default: of.default }) }
  const digits = Schema.isPattern(/^[0-9]+$/u, {
    message: "Expected decimal digits only",
    toJsonSchema: () => ({ pattern: "^[0-9]+$", ...range }),
  })
  return Schema.String.check(digits)
    .annotate({ description, examples: [String(of.default ?? 417)] })
    .pipe(
      Schema.decodeTo(Schema.Int.check(Schema.isBetween({ minimum, maximum })), SchemaTransformation.numberFromString),
    )
}

/** `1, 7 or 30`, in a sentence. */
export const oneOf = (choices: ReadonlyArray<string | number>): string =>
  `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`

/** A list of at most `maximum`; documented as text is. */
export const listOf = <Item extends Schema.Top>(item: Item, maximum: number) =>
  Schema.Array(item).check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ maxItems: maximum }) }))
