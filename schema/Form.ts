/** The one reader of JSON Schema: for the pages' reference, the commands, the library and the agents' tools. */
import { Schema } from "effect"
import { jsonOf } from "./Json.ts"

/** The parts of a JSON Schema that the contract uses. */
export interface Form {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<Schema.Json>
  readonly const?: Schema.Json
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema.Json
  readonly examples?: ReadonlyArray<Schema.Json>
  readonly default?: Schema.Json
  readonly items?: Form
  readonly properties?: Readonly<Record<string, Form>>
  readonly anyOf?: ReadonlyArray<Form>
  readonly oneOf?: ReadonlyArray<Form>
  readonly allOf?: ReadonlyArray<Form>
}

/** A form of the document, which our own generator writes. */
export const Form = Schema.declare((value): value is Form => typeof value === "object" && value !== null)

/** Named forms, to which references point. */
export type Forms = Readonly<Record<string, Form>>

/** A schema never changes, and each server of a process asks for the same ones. */
const forms = { error: new WeakMap<Schema.Top, Form>(), ignore: new WeakMap<Schema.Top, Form>() }

/** The form of a schema of the contract, without references. */
export const formOf = (schema: Schema.Top, onExcessProperty: keyof typeof forms = "ignore"): Form => {
  const kept = forms[onExcessProperty].get(schema)
  if (kept !== undefined) return kept
  const document = Schema.toJsonSchemaDocument(schema, { onExcessProperty, referencePolicy: () => undefined })
  const form = Schema.decodeUnknownSync(Form)(jsonOf(document.schema))
  forms[onExcessProperty].set(schema, form)
  return form
}

/** The remark beside a form: of its place, or else its own description. */
export const remarkOf = ({ allOf, description }: Form): string | undefined =>
  allOf?.find((part) => part.description !== undefined)?.description ?? description

/** Follows a reference and keeps what stands beside it. */
export const resolved = (forms: Forms, form: Form): Form => {
  const named = form.$ref ?? form.allOf?.find(({ $ref }) => $ref !== undefined)?.$ref
  if (named === undefined) return form
  const remark = form.description ?? remarkOf(form)
  const { $ref: _, allOf: __, ...beside } = form
  const target = resolved(forms, forms[named.split("/").at(-1) ?? ""] ?? {})
  return { ...target, ...beside, ...(remark === undefined ? {} : { description: remark }) }
}

/** The first sentence of a remark, with its full stop; empty without one. */
export const firstSentenceOf = (form: Form): string => /^.*?\.(?= |$)/u.exec(remarkOf(form) ?? "")?.[0] ?? ""

export interface Field {
  readonly name: string
  readonly form: Form
  readonly required: boolean
  readonly meaning: string
  /** All allowed values, where they are listed. */
  readonly choices: ReadonlyArray<string> | undefined
}

/** The members of an object's schema. */
export const fieldsOf = (schema: Schema.Top | undefined): ReadonlyArray<Field> => {
  const { properties = {}, required = [] } = schema === undefined ? {} : formOf(schema)
  return Object.entries(properties).map(([name, form]) => ({
    name,
    form,
    required: required.includes(name),
    meaning: [form.description, ...(form.allOf ?? []).map((part) => part.description)].filter(Boolean).join(" "),
    choices: form.enum?.map(String),
  }))
}
