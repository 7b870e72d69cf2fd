/** What is wrong with a request, as the list of places and sentences a caller gets. */
import { type Schema, SchemaIssue } from "effect"
import type { Issue } from "../../schema/Errors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** At most 20 issues: a hostile body must not buy a long answer, and a cut must not leave half a character. */
export const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(error.issue)
    .issues.slice(0, 20)
    .map((issue) => ({
      path: (issue.path ?? [])
        .map((step) => String(typeof step === "object" ? step.key : step))
        .join("/")
        .slice(0, 200)
        .toWellFormed(),
      message: issue.message.slice(0, 300).toWellFormed(),
    }))
