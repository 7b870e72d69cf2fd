/** The issues of an invalid request, as paths and messages for the caller. */
import { type Schema, SchemaIssue } from "effect"
import type { Issue } from "../../schema/Errors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Cuts a name from the caller, without control characters that steer a terminal and without half a character. */
export const shown = (text: string, length: number) =>
  text
    .slice(0, length)
    .toWellFormed()
    .replace(/\p{Cc}/gu, "\ufffd")

/** Maximum 20 issues, so that a hostile body cannot cause a long answer. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(error.issue)
    .issues.slice(0, 20)
    .map((issue) => ({
      path: shown((issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("/"), 200),
      message: shown(issue.message, 300),
    }))
