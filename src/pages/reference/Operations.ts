/** The operations of the OpenAPI document by chapter, as the reference shows them. */
import { Effect, Schema } from "effect"
import { Form, type Forms } from "../../../schema/Form.ts"
import { withoutSharing } from "../../../schema/openapi/Shared.ts"
import { codesOf, memberOf } from "./Form.ts"

const text = Schema.optionalKey(Schema.String)

const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Form }))

const Parameter = Schema.Struct({
  name: Schema.String,
  in: Schema.Literals(["path", "query", "header", "cookie"]),
  required: Schema.Boolean,
  schema: Form,
  description: text,
})

const Written = Schema.Struct({
  operationId: Schema.String,
  tags: Schema.Array(Schema.String),
  summary: Schema.String,
  description: text,
  parameters: Schema.optionalKey(Schema.Array(Parameter)),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
  responses: Schema.Record(
    Schema.String,
    Schema.Struct({ description: Schema.String, content: Schema.optionalKey(Content) }),
  ),
  security: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
})

const Document = Schema.Struct({
  info: Schema.Struct({ version: Schema.String, description: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Written)),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Form) }),
  tags: Schema.Array(Schema.Struct({ name: Schema.String, description: text })),
})

const referenceIn = ({ components, info, paths, tags }: typeof Document.Type) => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, written]) => ({ ...written, method: method.toUpperCase(), path })),
  )
  const chapters = tags.map(({ description = "", name }) => ({
    title: name,
    description,
    operations: operations.filter((operation) => operation.tags.includes(name)),
  }))
  return { ...info, chapters, forms: components.schemas }
}

export type Reference = ReturnType<typeof referenceIn>
export type Chapter = Reference["chapters"][number]
export type Operation = Chapter["operations"][number]

/** Reads the generated document; a failure is a defect of the build. */
export const referenceOf = (document: object): Effect.Effect<Reference> =>
  Schema.decodeUnknownEffect(Document)(withoutSharing(document)).pipe(Effect.orDie, Effect.map(referenceIn))

/** The JSON body of an operation, if it has one. */
export const bodyOf = ({ requestBody }: Operation): Form | undefined => requestBody?.content["application/json"]?.schema

/** The first successful answer and its form. */
export const answerOf = ({ responses }: Operation): readonly [status: string, form: Form] | undefined =>
  ["201", "200"].flatMap((status) => {
    const form = responses[status]?.content?.["application/json"]?.schema
    return form === undefined ? [] : [[status, form] as const]
  })[0]

/** The words for a parameter end with its place: the path, the query or a header. */
export const parametersOf = (forms: Forms, { parameters = [] }: Operation) =>
  parameters.map(({ description, in: place, name, required, schema }) => {
    const member = memberOf(forms, name, schema, required, description)
    return { ...member, words: `${member.words}, in the ${place}` }
  })

/** The answers of an operation; `code` is empty for one that is no refusal. */
export const statusesOf = (forms: Forms, { responses }: Operation) =>
  Object.entries(responses).flatMap(([status, { content, description }]) => {
    const form = content?.["application/json"]?.schema
    const codes = Number(status) < 400 || form === undefined ? [] : codesOf(forms, form)
    return codes.length === 0
      ? [{ status, code: "", meaning: description, form }]
      : codes.map((error) => ({ status, ...error, meaning: error.meaning === "" ? description : error.meaning }))
  })

export const isPaid = ({ security = [] }: Operation) => security.some((scheme) => "x402" in scheme)
