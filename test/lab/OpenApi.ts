/** The requests that the published document allows: every operation with its parameters and the schema of its body. */
import { withoutSharing } from "../../schema/openapi/Shared.ts"
import { jsonOf } from "./Sources.ts"

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly examples?: ReadonlyArray<unknown>
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly description?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: ReadonlyArray<Schema>
}

export interface Parameter {
  readonly name: string
  readonly description?: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: Schema
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Written {
  readonly operationId: string
  readonly security: ReadonlyArray<unknown>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, DocumentedResponse>>
}

export interface Operation extends Written {
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: Schema | undefined
}

export const document: {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Written>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
} = JSON.parse(JSON.stringify(withoutSharing(jsonOf("schema/openapi.json"))))

export const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([method, written]) => ({
    ...written,
    method: method.toUpperCase(),
    path,
    parameters: written.parameters ?? [],
    body: written.requestBody?.content["application/json"]?.schema,
  })),
)

const resolutions = new Map<Schema, Schema>()

/** The schema itself, where it is named elsewhere. */
export const resolved = (schema: Schema): Schema => {
  const name = schema.$ref?.split("/").at(-1)
  if (name === undefined) return schema
  const before = resolutions.get(schema)
  if (before !== undefined) return before
  const target = document.components.schemas[decodeURIComponent(name)]
  if (target === undefined) throw new Error(`The document has no schema ${name}`)
  const whole = { ...resolved(target), ...(schema.examples === undefined ? {} : { examples: schema.examples }) }
  resolutions.set(schema, whole)
  return whole
}
