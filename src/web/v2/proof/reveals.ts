/** Hashes revealed words wherever a page shows them, and warns beside words that do not match their commitment. */
import { checkReveal } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { all, make, one, verdict } from "../page/dom.ts"
import { cannotHash } from "../page/http.ts"
import { change } from "../words/box.ts"

/** A list marks only faults; the page of one act also states success. */
const tell = (place: HTMLElement, fault: string | undefined) => {
  const [told] = all("[data-reveal-verdict]", HTMLElement, place)
  if (told?.dataset["revealVerdict"] === "page")
    told.replaceChildren(
      fault === undefined
        ? verdict("holds", "These words were sealed.")
        : verdict("broken", "These are not the words that were sealed.", `Do not rely on them: ${fault}.`),
    )
  else if (fault !== undefined)
    told?.replaceChildren(make("b", { class: "verdict--broken" }, "✗ not the words that were sealed"))
}

const judge = async (place: HTMLElement): Promise<boolean> => {
  const { revealed: commitment = "", saltShown = "" } = place.dataset
  const { textContent: text } = one("[data-words-shown]", HTMLElement, place)
  const fault = await checkReveal(commitment, { text, salt: decodeURIComponent(saltShown) })
  tell(place, fault?.detail)
  // They may have been revealed elsewhere.
  if (fault === undefined) change(commitment, { revealed: true })
  return fault === undefined
}

/** Hashes and marks all revealed words of this page; returns how many there are, and how many do not match. */
export const checkReveals = async (): Promise<{ readonly shown: number; readonly broken: number }> => {
  if (!canHash()) {
    for (const told of all('[data-reveal-verdict="page"]', HTMLElement))
      told.replaceChildren(verdict("unchecked", "Not checked here.", cannotHash))
    return { shown: 0, broken: 0 }
  }
  const judged = await Promise.all(all("[data-revealed]", HTMLElement).map(judge))
  return { shown: judged.length, broken: judged.filter((isRight) => !isRight).length }
}

export const start = () => void checkReveals()
