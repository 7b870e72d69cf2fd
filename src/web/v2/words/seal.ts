/** Checks words against a commitment and, on their owner's order, reveals them; nothing of them is sent before. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { all, failure, longCode, make, verdict } from "../page/dom.ts"
import { allMarked, type ElementOf, marked, selectorOf, valuesOf } from "../page/marks.ts"
import { renew } from "../page/renew.ts"
import { checkReveals } from "../proof/reveals.ts"
import { ask, cannotHash, pageFailed, post, refusalOf, sentenceOf, waitOf } from "../page/http.ts"
import { change, held, type Keepsake } from "./box.ts"
import { acceptImports, leftOut } from "./import.ts"

const attach = (form: ElementOf<"check">) => {
  const { name = "", reveal: url } = valuesOf("check", form)
  const [salt, words, commitment] = [marked("salt", form), marked("words", form), marked("commitment", form)]
  const [note, result] = [marked("filled", form), marked("result", form)]
  const against = () => commitment.value.trim()

  /** Fills in words for the commitment, of this browser or of a file, and says so. */
  const fill = (kept: Keepsake | undefined, says: string) => {
    if (kept === undefined) return
    salt.value = kept.salt
    words.value = kept.words
    for (const control of all(".take", HTMLElement, form)) control.hidden = true
    form.closest("details")?.setAttribute("open", "")
    note.replaceChildren(verdict("holds", "Filled in.", says))
  }

  const fillHeld = () => fill(held(against()), "This browser holds these words.")

  const revealAt = async (to: string) => {
    const reply = await ask(to, post({ salt: salt.value, [name]: words.value }))
    if (reply.status !== 200 && reply.status !== 201) throw refusalOf(reply)
    const { candle, stone } = reply.body
    const shown = memberAt(stone, "reveal", "text") ?? memberAt(candle, "unsealed", "words")
    // Words that the altar hides are still its owner's alone.
    const isShown = typeof shown === "string"
    if (isShown) change(against(), { revealed: true })
    // The words take the form's place and get the focus.
    const quote = make("blockquote", { class: "words", tabindex: "-1" }, make("p", { dir: "auto" }, words.value))
    const place = form.closest("details") ?? form
    const says = isShown
      ? "Everyone can read and check these words now."
      : "The altar stores them, but shows neither them nor their salt."
    place.replaceWith(verdict("holds", "Revealed.", says), quote)
    // A text was sealed, so no file can be checked.
    for (const check of allMarked("fileCheck")) check.remove()
    quote.focus()
    await renew()
    await checkReveals()
  }

  const check = async (isRevealing: boolean) => {
    const computed = await commitmentOf(salt.value, words.value)
    if (computed === against()) {
      result.replaceChildren(verdict("holds", "They match.", "These words were sealed with this salt."))
      return isRevealing && url !== undefined ? revealAt(url) : undefined
    }
    const says = `${isRevealing ? "Nothing was sent. " : ""}This salt and these words hash to `
    result.replaceChildren(verdict("broken", "They do not match.", says, longCode(computed)))
  }

  const refuse = (word: string, message: string) => note.replaceChildren(verdict("broken", word, message))
  acceptImports(
    form,
    ({ entries, refused }) => {
      const [first] = entries
      if (first === undefined) return refuse("Not restored.", "Its salt and words do not hash to its commitment.")
      if (against() === "") commitment.value = first.commitment
      const fitting = entries.find((entry) => entry.commitment === against())
      if (fitting === undefined) return refuse("Other words.", "They fit another commitment.")
      fill(fitting, "These are the words of the file.")
      note.append(leftOut(refused))
    },
    (message) => refuse("Not restored.", message),
  )
  // A visitor's input is never overwritten.
  commitment.addEventListener("input", () => salt.value + words.value === "" && fillHeld())
  form.addEventListener("input", () => {
    result.replaceChildren()
    note.replaceChildren()
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return result.replaceChildren(verdict("broken", "Cannot hash here.", cannotHash))
    const { submitter } = event
    // The outcome stands below the button that asked for it.
    submitter?.parentElement?.after(result)
    const again = () => form.requestSubmit(submitter)
    void check(submitter?.matches(selectorOf("reveals")) === true).catch((error: unknown) =>
      result.replaceChildren(...failure("Not done.", sentenceOf(error, pageFailed), again, "broken", waitOf(error))),
    )
  })
  fillHeld()
}

export const start = () => allMarked("check").forEach(attach)
