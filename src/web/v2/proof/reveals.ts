/** Hashes revealed words wherever a page shows them, and warns beside words that do not match their commitment. */
import { checkReveal } from "../../../buyer/core/Commitment.ts"
import { all, make, one, verdict } from "../page/dom.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { cannotHash } from "../page/http.ts"

const judge = async (place: HTMLElement) => {
  const { revealed: commitment = "", saltShown = "" } = place.dataset
  const { textContent } = one("[data-words-shown]", HTMLElement, place)
  return { place, fault: await checkReveal(commitment, { text: textContent, salt: decodeURIComponent(saltShown) }) }
}

/** A list marks only faults; the page of one act also states success. */
const tell = (place: HTMLElement, detail: string | undefined) => {
  for (const told of all("[data-reveal-verdict]", HTMLElement, place)) {
    const isPage = told.dataset["revealVerdict"] === "page"
    told.replaceChildren(
      ...(detail !== undefined
        ? [
            isPage
              ? verdict("broken", "These are not the words that were sealed.", `Do not rely on them: ${detail}.`)
              : make("b", { class: "verdict--broken" }, "✗ not the words that were sealed"),
          ]
        : isPage
          ? [verdict("holds", "These words were sealed.")]
          : []),
    )
  }
}

/** Hashes and marks all revealed words of this page; returns how many there are, and how many do not match. */
export const checkReveals = async (): Promise<{ readonly shown: number; readonly broken: number }> => {
  if (!canHash()) {
    for (const told of all('[data-reveal-verdict="page"]', HTMLElement))
      told.replaceChildren(verdict("unchecked", "Not checked here.", cannotHash))
    return { shown: 0, broken: 0 }
  }
  const judged = await Promise.all(all("[data-revealed]", HTMLElement).map(judge))
  for (const { fault, place } of judged) tell(place, fault?.detail)
  return { shown: judged.length, broken: judged.filter(({ fault }) => fault !== undefined).length }
}

export const start = () => {
  void checkReveals()
}
