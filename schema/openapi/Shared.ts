/** States each repeated header, parameter and answer of the document once, as a component. */
import { Predicate, Record } from "effect"

type Named = readonly [name: string, value: unknown]

/** Components for the values that occur more than once, and what stands in the place of a value. */
const share = (kind: string, values: ReadonlyArray<Named>) => {
  const components: { [name: string]: unknown } = {}
  const references = new Map<string, { readonly $ref: string }>()
  const free = (name: string, number = 1): string => {
    const candidate = number === 1 ? name : `${name}${number}`
    return candidate in components ? free(name, number + 1) : candidate
  }
  for (const [text, same] of Map.groupBy(values, ([, value]) => JSON.stringify(value))) {
    const [first] = same
    if (first === undefined || same.length === 1) continue
    const name = free(first[0])
    components[name] = first[1]
    references.set(text, { $ref: `#/components/${kind}/${name}` })
  }
  const placed = (value: unknown) => references.get(JSON.stringify(value)) ?? value
  return { components, placed }
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>
  readonly headers?: Record<string, unknown>
}

interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string }>
  readonly responses: Record<string, Response>
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: object
}

/** An answer is named after its body, or else after its status. */
const nameOf = (status: string, { content }: Response) =>
  content?.["application/json"]?.schema.$ref?.split("/").at(-1) ?? `Status${status}`

/** Some generators do not see the body of an operation whose first success is a reference. */
const isSuccess = (status: string) => status === "200"

export const shareRepeated = (document: Document) => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const responses = operations.flatMap((operation) => Object.entries(operation.responses))

  const parameters = share(
    "parameters",
    operations.flatMap(({ parameters = [] }) => parameters.map((parameter): Named => [parameter.name, parameter])),
  )
  const headers = share(
    "headers",
    responses.flatMap(([, { headers = {} }]) =>
      Object.entries(headers).map(([name, value]): Named => [name.replace("Access-Control-Allow-", "Any"), value]),
    ),
  )
  const withSharedHeaders = (response: Response) =>
    response.headers === undefined ? response : { ...response, headers: Record.map(response.headers, headers.placed) }
  const answers = share(
    "responses",
    responses
      .filter(([status]) => !isSuccess(status))
      .map(([status, response]): Named => [nameOf(status, response), withSharedHeaders(response)]),
  )

  const shared = (operation: Operation) => ({
    ...operation,
    ...(operation.parameters === undefined ? {} : { parameters: operation.parameters.map(parameters.placed) }),
    responses: Record.map(operation.responses, (response, status) =>
      isSuccess(status) ? withSharedHeaders(response) : answers.placed(withSharedHeaders(response)),
    ),
  })
  return {
    ...document,
    paths: Record.map(document.paths, (methods) => Record.map(methods, shared)),
    components: {
      ...document.components,
      parameters: parameters.components,
      headers: headers.components,
      responses: answers.components,
    },
  }
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const inPlace = (value: unknown, components: Components): unknown => {
  if (Array.isArray(value)) return value.map((item) => inPlace(item, components))
  if (!Predicate.isReadonlyObject(value)) return value
  const [, kind = "", name = ""] =
    /^#\/components\/(parameters|headers|responses)\/(.+)$/u.exec(String(value["$ref"])) ?? []
  const shared = components[kind]?.[name]
  return shared === undefined ? Record.map(value, (member) => inPlace(member, components)) : inPlace(shared, components)
}

/** The document with each shared header, parameter and answer in its place, for readers that follow no reference. */
export const withoutSharing = (document: object): object => {
  const { components = {}, paths }: { readonly components?: Components; readonly paths?: unknown } = document
  const { headers: _headers, parameters: _parameters, responses: _responses, ...kept } = components
  return { ...document, paths: inPlace(paths, components), components: kept }
}
