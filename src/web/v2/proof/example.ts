/** The example of the home page: recomputes the fingerprint of its words at each change. */
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { verdict } from "../page/dom.ts"
import { allMarked, marked, valuesOf } from "../page/marks.ts"
import { drawIn } from "../page/drawn.ts"
import { cannotHash } from "../page/http.ts"

/** The recorded fingerprint with its differing digits marked. */
const attach = (form: HTMLFormElement) => {
  const words = marked("words", form)
  const computed = marked("computed", form)
  const shownResult = marked("verdictShown", form)
  const { example: recorded = "", saltShown = "" } = valuesOf("example", form)
  const draw = drawIn(document, recorded)
  let shown = ""
  const compute = async () => {
    const fingerprint = await commitmentOf(decodeURIComponent(saltShown), words.value)
    computed.textContent = fingerprint
    void draw(fingerprint)
    computed.classList.toggle("differs", fingerprint !== recorded)
    const outcome = fingerprint === recorded ? "holds" : "broken"
    // A status is announced once, not at each letter.
    if (outcome === shown) return
    shown = outcome
    shownResult.replaceChildren(
      outcome === "holds" ? verdict("holds", "It matches.") : verdict("broken", "It does not match."),
    )
  }
  if (!canHash()) return shownResult.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
  words.addEventListener("input", () => void compute())
  form.addEventListener("submit", (event) => event.preventDefault())
  void compute()
}

export const start = () => {
  for (const form of allMarked("example")) attach(form)
}
