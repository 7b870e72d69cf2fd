/** The operations of the OpenAPI document by chapter, as the reference shows them. */
import { Schema } from "effect"
import { codesOf, Form, type Forms, memberOf } from "./Form.ts"

const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Form }))

const Parameter = Schema.Struct({
  name: Schema.String,
  in: Schema.Literals(["path", "query", "header", "cookie"]),
  required: Schema.Boolean,
  schema: Form,
  description: Schema.optionalKey(Schema.String),
})
export type Parameter = typeof Parameter.Type

const Response = Schema.Struct({
  description: Schema.String,
  content: Schema.optionalKey(Content),
  headers: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ description: Schema.optionalKey(Schema.String), schema: Form })),
  ),
})

const Written = Schema.Struct({
  operationId: Schema.String,
  tags: Schema.Array(Schema.String),
  summary: Schema.String,
  description: Schema.optionalKey(Schema.String),
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content, required: Schema.optionalKey(Schema.Boolean) })),
  responses: Schema.Record(Schema.String, Response),
  security: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
})

const Document = Schema.Struct({
  info: Schema.Struct({ title: Schema.String, version: Schema.String, description: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Written)),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Form) }),
  tags: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.optionalKey(Schema.String) })),
})

export interface Operation extends Schema.Schema.Type<typeof Written> {
  /** In capitals. */
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
}

export interface Chapter {
  readonly title: string
  readonly description: string
  readonly operations: ReadonlyArray<Operation>
}

export interface Reference {
  readonly version: string
  readonly description: string
  readonly chapters: ReadonlyArray<Chapter>
  readonly forms: Forms
}

const decode = Schema.decodeUnknownEffect(Document)

/** Decodes the generated document; a failure is a defect of the build. */
export const read = (document: unknown) => decode(document)

export const referenceOf = ({ components, info, paths, tags }: typeof Document.Type): Reference => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, written]): Operation => ({ ...written, method: method.toUpperCase(), path })),
  )
  const chapters = tags.map(({ description = "", name }) => ({
    title: name,
    description,
    operations: operations.filter((operation) => operation.tags.includes(name)),
  }))
  return { version: info.version, description: info.description, chapters, forms: components.schemas }
}

/** The JSON body of an operation, if it has one. */
export const bodyOf = ({ requestBody }: Operation): Form | undefined => requestBody?.content["application/json"]?.schema

/** The first successful answer and its form. */
export const answerOf = ({ responses }: Operation): readonly [status: string, form: Form] | undefined =>
  ["201", "200"].flatMap((status) => {
    const form = responses[status]?.content?.["application/json"]?.schema
    return form === undefined ? [] : [[status, form] as const]
  })[0]

export const parametersOf = (forms: Forms, { parameters = [] }: Operation) =>
  parameters.map(({ description, in: place, name, required, schema }) => ({
    ...memberOf(forms, name, schema, required, description),
    place,
  }))

export interface Status {
  readonly status: string
  /** Empty for an answer that is no refusal. */
  readonly code: string
  readonly meaning: string
  readonly form: Form | undefined
}

export const statusesOf = (forms: Forms, { responses }: Operation): ReadonlyArray<Status> =>
  Object.entries(responses).flatMap(([status, { content, description }]) => {
    const form = content?.["application/json"]?.schema
    const codes = Number(status) < 400 || form === undefined ? [] : codesOf(forms, form)
    return codes.length === 0
      ? [{ status, code: "", meaning: description, form }]
      : codes.map((one) => ({ status, ...one, meaning: one.meaning === "" ? description : one.meaning }))
  })

export const isPaid = ({ security = [] }: Operation) => security.some((one) => "x402" in one)
