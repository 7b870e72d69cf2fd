/** Prints the checks of a file and fails unless all that could be checked holds. */
import { Effect } from "effect"
import type { ReceiptCheck } from "../../buyer/receipt/Checks.ts"
import { CheckFailed } from "../CommandFailure.ts"
import { plain, print } from "../Output.ts"

const marks = { holds: "HOLDS      ", broken: "BROKEN     ", open: "NOT CHECKED" } as const

export const lineOf = ({ name, says, state }: ReceiptCheck) => plain(`${marks[state]}  ${name}: ${says}`)

/** One line for each check, or the whole verdict as one document. */
export const report = Effect.fnUntraced(function* (
  path: string,
  verdict: { readonly ok: boolean; readonly checks: ReadonlyArray<ReceiptCheck>; readonly claims?: object | null },
) {
  const { checks, ok } = verdict
  yield* print(verdict, checks.map(lineOf).join("\n"))
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
    isPrinted: true,
  })
})
