/** The issues of an invalid request, as paths and messages for the caller. */
import { type Schema, type SchemaAST, SchemaIssue } from "effect"
import type { Issue } from "../../schema/Errors.ts"

/** Longer lists of values are read in the document. */
const namedValues = 8

/** A type in the words of JSON: our names for types mean nothing to a caller. */
const inJson = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "Objects":
      return "a JSON object"
    case "Arrays":
      return "a list"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Literal":
      return JSON.stringify(String(ast.literal))
    case "Union": {
      const choices = [...new Set(ast.types.map(inJson))]
      return choices.length > namedValues
        ? `one of the ${choices.length} values that /openapi.json lists`
        : choices.join(" or ")
    }
    default:
      return "a string"
  }
}

/** The filter's own message, else what it expects. */
const ofFilter = (issue: SchemaIssue.Filter): string | undefined => {
  const own = SchemaIssue.defaultCheckHook(issue)
  if (own !== undefined || issue.issue._tag !== "InvalidValue") return own
  const expected = issue.issue.annotations?.["expected"] ?? issue.filter.annotations?.expected
  return `Must be ${typeof expected === "string" ? expected : "a valid value"}`
}

const ofLeaf = (issue: SchemaIssue.Leaf): string => {
  switch (issue._tag) {
    case "InvalidType":
      return `Must be ${inJson(issue.ast)}`
    case "MissingKey":
      return "Must be present"
    case "UnexpectedKey":
      return "Must be left out: the document names no such member"
    default:
      return SchemaIssue.defaultLeafHook(issue).replace(/^Expected /u, "Must be ")
  }
}

interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

const faultsOf = (issue: SchemaIssue.Issue, path: Fault["path"], message?: string): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Filter":
      return faultsOf(issue.issue, path, message ?? ofFilter(issue))
    case "Encoding":
      return faultsOf(issue.issue, path, message)
    case "Pointer":
      return faultsOf(issue.issue, [...path, ...issue.path], message)
    case "Composite":
    case "AnyOf":
      return issue._tag === "AnyOf" && issue.issues.length === 0
        ? [{ path, message: message ?? `Must be ${inJson(issue.ast)}` }]
        : issue.issues.flatMap((nested) => faultsOf(nested, path, message))
    default:
      return [{ path, message: message ?? ofLeaf(issue) }]
  }
}

/** The issues as one sentence without its full stop. */
export const listed = (issues: ReadonlyArray<Issue>): string =>
  issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`).replace(/\.$/u, "")).join("; ")

/** Cuts a name from the caller, without control characters that steer a terminal and without half a character. */
export const shown = (text: string, length: number) =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, "\ufffd")

/** Maximum 20 issues, so that a hostile body cannot cause a long answer. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  faultsOf(error.issue, [])
    .slice(0, 20)
    .map(({ message, path }) => ({ path: shown(path.map(String).join("/"), 200), message: shown(message, 300) }))
