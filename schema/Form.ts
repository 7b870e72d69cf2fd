/** The one reader of JSON Schema: for the pages' reference, the commands, the library and the agents' tools. */
import { Schema } from "effect"

const number = Schema.optionalKey(Schema.Finite)
const text = Schema.optionalKey(Schema.String)
const values = Schema.optionalKey(Schema.Array(Schema.Json))

/** The keywords without nested schemas. */
const Plain = Schema.Struct({
  $ref: text,
  type: text,
  description: text,
  enum: values,
  const: Schema.optionalKey(Schema.Json),
  minLength: number,
  maxLength: number,
  pattern: text,
  minimum: number,
  maximum: number,
  minItems: number,
  maxItems: number,
  required: Schema.optionalKey(Schema.Array(Schema.String)),
  additionalProperties: Schema.optionalKey(Schema.Json),
  examples: values,
  default: Schema.optionalKey(Schema.Json),
})

/** The parts of a JSON Schema that the contract uses. */
export interface Form extends Schema.Schema.Type<typeof Plain> {
  readonly items?: Form
  readonly prefixItems?: ReadonlyArray<Form>
  readonly properties?: Readonly<Record<string, Form>>
  readonly anyOf?: ReadonlyArray<Form>
  readonly oneOf?: ReadonlyArray<Form>
  readonly allOf?: ReadonlyArray<Form>
}

const nested = Schema.suspend((): Schema.Codec<Form> => Form)
const several = Schema.optionalKey(Schema.Array(nested))

export const Form: Schema.Codec<Form> = Schema.Struct({
  ...Plain.fields,
  items: Schema.optionalKey(nested),
  prefixItems: several,
  properties: Schema.optionalKey(Schema.Record(Schema.String, nested)),
  anyOf: several,
  oneOf: several,
  allOf: several,
})

/** Named forms, to which references point. */
export type Forms = Readonly<Record<string, Form>>

const read = Schema.decodeUnknownSync(Form)

/** The form of a schema of the contract, without references. */
export const formOf = (schema: Schema.Top, onExcessProperty: "error" | "ignore" = "ignore"): Form =>
  read(Schema.toJsonSchemaDocument(schema, { onExcessProperty, referencePolicy: () => undefined }).schema)

/** The remark beside a form: of its place, or else its own description. */
export const remarkOf = ({ allOf, description }: Form): string | undefined =>
  allOf?.find((part) => part.description !== undefined)?.description ?? description

/** Follows a reference and keeps what stands beside it. */
export const resolved = (forms: Forms, form: Form): Form => {
  const named = form.$ref ?? form.allOf?.find(({ $ref }) => $ref !== undefined)?.$ref
  if (named === undefined) return form
  const remark = form.description ?? remarkOf(form)
  const { $ref: _, allOf: __, ...beside } = form
  const found = resolved(forms, forms[named.split("/").at(-1) ?? ""] ?? {})
  return { ...found, ...beside, ...(remark === undefined ? {} : { description: remark }) }
}

export interface Field {
  readonly name: string
  readonly required: boolean
  readonly meaning: string
  /** All allowed values, where they are listed. */
  readonly choices: ReadonlyArray<string> | undefined
}

/** The members of an object's schema. */
export const fieldsOf = (schema: Schema.Top | undefined): ReadonlyArray<Field> => {
  const { properties = {}, required = [] } = schema === undefined ? {} : formOf(schema)
  return Object.entries(properties).map(([name, { allOf = [], description, enum: choices }]) => ({
    name,
    required: required.includes(name),
    meaning: [description, ...allOf.map((part) => part.description)].filter(Boolean).join(" "),
    choices: choices?.map(String),
  }))
}
