/** Holds every answer against the published document: its status, its headers, and its body to the last member. */
import type { AnyValidateFunction } from "ajv/dist/core.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { document, type Operation } from "../OpenApi.ts"

/** An answer as it came over the wire; no body for one that streams, or whose bytes were judged before. */
export interface ReceivedAnswer {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly headers: Pick<Headers, "get">
  readonly body?: string
}

type DocumentedResponse = Operation["responses"][string]

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
formats.default(ajv)
ajv.addSchema(document, "document")

/** Templates as patterns; one without a parameter comes first. A longer parameter than the router takes names no route. */
const templates = Object.keys(document.paths)
  .sort((a, b) => Number(a.includes("{")) - Number(b.includes("{")))
  .map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\{[^}]+\}/gu, "[^/]{1,500}")}$`, "u"),
  }))

const pointer = (...parts: ReadonlyArray<string>) =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")

const compiled = new Map<string, AnyValidateFunction>()

const validatorAt = (...parts: ReadonlyArray<string>) => {
  const name = parts.join(" ")
  const validate = compiled.get(name) ?? ajv.getSchema(`document#${pointer(...parts)}`)
  if (validate === undefined) throw new Error(`The document has no ${name}`)
  compiled.set(name, validate)
  return validate
}

const complaint = (what: string, validate: ReturnType<typeof validatorAt>) =>
  `${what}: ${ajv.errorsText(validate.errors, { dataVar: "", separator: "; " })}`

const headerFaults = (at: ReadonlyArray<string>, documented: DocumentedResponse, heard: ReceivedAnswer) =>
  Object.entries(documented.headers ?? {}).flatMap(([name, { required }]) => {
    const value = heard.headers.get(name)
    if (value === null) return required === true ? [`${name} is missing`] : []
    const validate = validatorAt(...at, "headers", name, "schema")
    const number = Number(value)
    return validate(value) || (value !== "" && Number.isFinite(number) && validate(number))
      ? []
      : [complaint(`${name}: ${value}`, validate)]
  })

const bodyFaults = (at: ReadonlyArray<string>, documented: DocumentedResponse, heard: ReceivedAnswer) => {
  const mediaType = (heard.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? ""
  const types = Object.keys(documented.content ?? {})
  if (types.length === 0)
    return heard.body === undefined || heard.body === "" ? [] : ["a body where none is documented"]
  if (!types.includes(mediaType)) return [`${mediaType === "" ? "no media type" : mediaType} is not documented`]
  if (heard.body === undefined || !mediaType.endsWith("json")) return []
  const validate = validatorAt(...at, "content", mediaType, "schema")
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

/** The documented operation that such a request asks for, as method and template; nothing for one that is not of the API. */
export const nameOf = (request: Pick<ReceivedAnswer, "method" | "url">): string | undefined => {
  const found = operationOf(request)
  return found === undefined ? undefined : `${found.verb} ${found.template}`
}

/** Whether the document says anything of the answer to such a request. */
export const isDocumented = (request: Pick<ReceivedAnswer, "method" | "url">): boolean =>
  operationOf(request) !== undefined

/** The undocumented and missing members of an answer; nothing for a route that is not of the API. */
export const faultsOf = (heard: ReceivedAnswer): ReadonlyArray<string> => {
  const found = operationOf(heard)
  if (found === undefined) return []
  const { operation, pathname, template, verb } = found
  const status = String(heard.status)
  const documented = operation.responses[status]
  const name = `${heard.method.toUpperCase()} ${pathname} ${status}`
  if (documented === undefined) return [`${name}: this status is not documented`]
  const at = ["paths", template, verb, "responses", status]
  return [...headerFaults(at, documented, heard), ...bodyFaults(at, documented, heard)].map(
    (fault) => `${name}: ${fault}`,
  )
}
