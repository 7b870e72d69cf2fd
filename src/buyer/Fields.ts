/** The members of a request's parts, read from their schemas, so that a command line can ask for each. */
import { Schema } from "effect"

export interface Field {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  /** All allowed values, where they are listed. */
  readonly choices: ReadonlyArray<string>
  /** Whether the value is text; otherwise it is any JSON. */
  readonly isText: boolean
  /** Whether the value is the commitment of sealed words. */
  readonly isCommitment: boolean
}

const Member = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  enum: Schema.optionalKey(Schema.Array(Schema.String)),
  allOf: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ $ref: Schema.optionalKey(Schema.String), description: Schema.optionalKey(Schema.String) }),
    ),
  ),
})
type Member = typeof Member.Type

const Whole = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  required: Schema.optionalKey(Schema.Array(Schema.String)),
})

const isMember = Schema.is(Member)
const isWhole = Schema.is(Whole)

const nameOf = (reference: string | undefined) => reference?.split("/").at(-1) ?? ""

export const fieldsOf = (schema: Schema.Top | undefined): ReadonlyArray<Field> => {
  if (schema === undefined) return []
  const document = Schema.toJsonSchemaDocument(schema)
  const resolve = (found: unknown): unknown =>
    isWhole(found) && found.$ref !== undefined ? document.definitions[nameOf(found.$ref)] : found
  const whole = resolve(document.schema)
  if (!isWhole(whole)) return []
  return Object.entries(whole.properties ?? {}).flatMap(([name, value]) => {
    if (!isMember(value)) return []
    const reference = value.$ref ?? value.allOf?.find(({ $ref }) => $ref !== undefined)?.$ref
    const definition = reference === undefined ? value : document.definitions[nameOf(reference)]
    const own: Member = isMember(definition) ? definition : value
    return [
      {
        name,
        description:
          value.description ??
          value.allOf?.find(({ description }) => description !== undefined)?.description ??
          own.description ??
          name,
        isRequired: whole.required?.includes(name) === true,
        choices: own.enum ?? [],
        isText: own.type === "string",
        isCommitment: nameOf(reference) === "Commitment",
      },
    ]
  })
}
