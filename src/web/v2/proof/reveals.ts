/** Hashes revealed words wherever a page shows them, and warns beside words that do not match their commitment. */
import { checkReveal } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { make, verdict } from "../page/dom.ts"
import { dayWords } from "../page/durations.ts"
import { allMarked, type ElementOf, marked, valuesOf } from "../page/marks.ts"
import { cannotHash } from "../page/http.ts"
import { change } from "../words/box.ts"

const isOfPage = (place: ElementOf<"revealVerdict">) => valuesOf("revealVerdict", place).revealVerdict === "page"

/** A list marks only faults; the page of one act also states success. */
const tell = (place: HTMLElement, fault: string | undefined) => {
  const [label] = allMarked("revealVerdict", place)
  const on = label && valuesOf("revealVerdict", label).on
  if (label !== undefined && isOfPage(label))
    label.replaceChildren(
      fault === undefined
        ? verdict("holds", on === undefined ? "These words were sealed." : `These words existed on ${dayWords(on)}.`)
        : verdict("broken", "These are not the words that were sealed.", `Do not rely on them: ${fault}.`),
    )
  else if (fault !== undefined)
    label?.replaceChildren(make("b", { class: "verdict--broken" }, "✗ not the words that were sealed"))
}

const judge = async (place: HTMLElement): Promise<boolean> => {
  const { revealed: commitment = "", saltShown = "" } = valuesOf("revealed", place)
  const { textContent: text } = marked("wordsShown", place)
  const fault = await checkReveal(commitment, { text, salt: decodeURIComponent(saltShown) })
  tell(place, fault?.detail)
  // They may have been revealed elsewhere.
  if (fault === undefined) change(commitment, { revealed: true })
  return fault === undefined
}

/** Hashes and marks all revealed words of this page; returns how many there are, and how many do not match. */
export const checkReveals = async (): Promise<{ readonly shown: number; readonly broken: number }> => {
  if (!canHash()) {
    for (const label of allMarked("revealVerdict").filter(isOfPage))
      label.replaceChildren(verdict("unchecked", "Not checked here.", cannotHash))
    return { shown: 0, broken: 0 }
  }
  const judged = await Promise.all(allMarked("revealed").map(judge))
  return { shown: judged.length, broken: judged.filter((isRight) => !isRight).length }
}

export const start = () => void checkReveals()
