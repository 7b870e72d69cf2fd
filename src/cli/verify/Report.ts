/** Prints the checks of a file and fails unless all that could be checked holds. */
import { Console, Effect } from "effect"
import type { ReceiptCheck } from "../../buyer/receipt/Checks.ts"
import { CheckFailed } from "../CommandFailure.ts"
import { plain } from "../Output.ts"

const marks = { holds: "HOLDS      ", broken: "BROKEN     ", open: "NOT CHECKED" } as const

/** One line for each check, or the whole verdict as one document. */
export const report = Effect.fnUntraced(function* (
  path: string,
  verdict: { readonly ok: boolean; readonly checks: ReadonlyArray<ReceiptCheck>; readonly claims?: object | null },
  isJson: boolean,
) {
  const { checks, ok } = verdict
  if (isJson) yield* Console.log(JSON.stringify(verdict))
  else for (const { name, says, state } of checks) yield* Console.log(plain(`${marks[state]}  ${name}: ${says}`))
  if (ok) return
  const namesOf = (isSo: (check: ReceiptCheck) => boolean) =>
    checks
      .filter(isSo)
      .map(({ name }) => name)
      .join(", ")
  const broken = namesOf(({ state }) => state === "broken")
  const foreign = namesOf(({ isForeign }) => isForeign === true)
  const why = foreign === "" ? "see above" : `other keys were named (${foreign})`
  return yield* new CheckFailed({
    message: broken === "" ? `${path} was not checked: ${why}.` : `${path} does not hold: ${broken}.`,
  })
})
