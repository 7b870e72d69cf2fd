/** The placeholders of names and texts that an operator hid. */
import { Schema } from "effect"

/** Shown in place of a public name, a dedication or a reason. */
export const hiddenByOperator = "hidden by the operator"

/** Set when an operator hid the words; absent when they look like a link, wallet or address. */
export const hiddenBy = Schema.optionalKey(
  Schema.Literal("operator").annotate({
    description: "Only when an operator hid the words; they are stored and still hash to the commitment.",
  }),
)
