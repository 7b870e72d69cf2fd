/** Holds every answer against the published document: its status, its headers, and its body to the last member. */
import type { AnyValidateFunction } from "ajv/dist/core.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { document, type Operation, type Schema } from "../OpenApi.ts"

/** An answer as it came over the wire; no body for one that streams, or whose bytes were judged before. */
export interface ReceivedAnswer {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly headers: Pick<Headers, "get">
  readonly body?: string
}

type DocumentedResponse = Operation["responses"][string]

/** Each worker compiles anew, and most schemas judge a few answers: small code is worth more than fast code. */
const compilation = { inlineRefs: false, code: { optimize: false } }

export const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, ...compilation })
formats.default(ajv)
ajv.addSchema(document, "document")

/** Templates as patterns; one without a parameter comes first. A longer parameter than the router takes names no route. */
const templates = Object.keys(document.paths)
  .sort((a, b) => Number(a.includes("{")) - Number(b.includes("{")))
  .map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\{[^}]+\}/gu, "[^/]{1,500}")}$`, "u"),
  }))

const compiled = new Map<string, AnyValidateFunction>()

/** Most headers and refusals have the same schema in every answer; it is compiled once. */
const validatorOf = (schema: Schema) => {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"document#')
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text))
  compiled.set(text, validate)
  return validate
}

const complaint = (what: string, validate: AnyValidateFunction) =>
  `${what}: ${ajv.errorsText(validate.errors, { dataVar: "", separator: "; " })}`

const headerFaults = (documented: DocumentedResponse, heard: ReceivedAnswer) =>
  Object.entries(documented.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const value = heard.headers.get(name)
    if (value === null) return required === true ? [`${name} is missing`] : []
    const validate = validatorOf(schema)
    const number = Number(value)
    return validate(value) || (value !== "" && Number.isFinite(number) && validate(number))
      ? []
      : [complaint(`${name}: ${value}`, validate)]
  })

const bodyFaults = (documented: DocumentedResponse, heard: ReceivedAnswer) => {
  const mediaType = (heard.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? ""
  if (documented.content === undefined)
    return heard.body === undefined || heard.body === "" ? [] : ["a body where none is documented"]
  const media = documented.content[mediaType]
  if (media === undefined) return [`${mediaType === "" ? "no media type" : mediaType} is not documented`]
  if (heard.body === undefined || !mediaType.endsWith("json")) return []
  const validate = validatorOf(media.schema)
  return validate(JSON.parse(heard.body)) ? [] : [complaint("body", validate)]
}

/** A path that cannot be decoded names no route. */
const decodable = (path: string) => {
  try {
    return decodeURIComponent(path) !== ""
  } catch {
    return false
  }
}

/** The documented operation that a request asks for, and where the document has it. */
const operationOf = ({ method, url }: Pick<ReceivedAnswer, "method" | "url">) => {
  const { pathname } = new URL(url)
  const template = decodable(pathname) ? templates.find(({ pattern }) => pattern.test(pathname))?.template : undefined
  const verb = method.toLowerCase()
  const operation = template === undefined ? undefined : document.paths[template]?.[verb]
  return template === undefined || operation === undefined ? undefined : { operation, pathname, template, verb }
}

/** Whether the document says anything of the answer to such a request. */
export const isDocumented = (request: Pick<ReceivedAnswer, "method" | "url">): boolean =>
  operationOf(request) !== undefined

/** The undocumented and missing members of an answer; nothing for a route that is not of the API. */
export const faultsOf = (heard: ReceivedAnswer): ReadonlyArray<string> => {
  const match = operationOf(heard)
  if (match === undefined) return []
  const { operation, pathname } = match
  const status = String(heard.status)
  const documented = operation.responses[status]
  const name = `${heard.method.toUpperCase()} ${pathname} ${status}`
  if (documented === undefined) return [`${name}: this status is not documented`]
  return [...headerFaults(documented, heard), ...bodyFaults(documented, heard)].map((fault) => `${name}: ${fault}`)
}
