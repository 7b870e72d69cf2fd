/** Revealed words are hashed wherever a page shows them. A page that shows other words than were sealed says so beside them. */
import { checkReveal } from "../../../buyer/core/Commitment.ts"
import { all, make, one, verdict, renewed } from "../page/dom.ts"
import { canHash } from "../../../buyer/core/Digest.ts"

const judge = async (place: HTMLElement) => {
  const { revealed: commitment = "", saltShown = "" } = place.dataset
  const { textContent } = one("[data-words-shown]", HTMLElement, place)
  return { place, fault: await checkReveal(commitment, { text: textContent, salt: decodeURIComponent(saltShown) }) }
}

/** A list marks only what is wrong; the page of one act says what was found. */
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

/** Hashes all revealed words of this page, and marks them; returns how many there are, and how many are not what was sealed. */
export const checkReveals = async (): Promise<{ readonly shown: number; readonly broken: number }> => {
  if (!canHash()) return { shown: 0, broken: 0 }
  const judged = await Promise.all(all("[data-revealed]", HTMLElement).map(judge))
  for (const { fault, place } of judged) tell(place, fault?.detail)
  return { shown: judged.length, broken: judged.filter(({ fault }) => fault !== undefined).length }
}

export const start = () => {
  void checkReveals()
  addEventListener(renewed, () => void checkReveals())
}
