/** What is wrong with a request, as the list of places and sentences a caller gets. */
import { type Schema, SchemaIssue } from "effect"
import type { Issue } from "../../schema/Errors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Names of members come from the caller: shown without what would steer a terminal, and without half a character. */
export const shown = (text: string, length: number) =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\p{Cc}/gu, "\ufffd")

/** At most 20 issues: a hostile body must not buy a long answer. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(error.issue)
    .issues.slice(0, 20)
    .map((issue) => ({
      path: shown((issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("/"), 200),
      message: shown(issue.message, 300),
    }))
