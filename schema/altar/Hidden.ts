/** What stands where an operator hid a name or a text. */
import { Schema } from "effect"

/** It is shown in place of a public name, a dedication or a reason. */
export const hiddenByOperator = "hidden by the operator"

/** Of words that are not shown: an operator hid them; absent when they look like a link, wallet or address. */
export const hiddenBy = Schema.optionalKey(
  Schema.Literal("operator").annotate({
    description: "Only when an operator hid the words; they are stored and still hash to the commitment.",
  }),
)
