/** Checks words against a commitment and, on their owner's order, reveals them; nothing of them is sent before. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { all, button, failure, longCode, make, verdict } from "../page/dom.ts"
import { dayWords } from "../page/durations.ts"
import { allMarked, attributeOf, type ElementOf, marked, selectorOf, valuesOf } from "../page/marks.ts"
import { renew } from "../page/renew.ts"
import { checkReveals } from "../proof/reveals.ts"
import { ask, cannotHash, pageFailed, post, refusalOf, sentenceOf, waitOf } from "../page/http.ts"
import { change, held, type Keepsake } from "./box.ts"
import { acceptImports, type Imported, leftOut } from "./import.ts"

const warning =
  "Words and salt are then public, for ever. Words that look like a link, a wallet or an address are stored and not shown."

/** Shows the words to their owner where everyone will read them, in the space of what is said of sealed words. */
const showOwner = (words: string, form: HTMLFormElement, mayReveal: boolean) => {
  const [place] = allMarked("owner")
  const before = place?.querySelector("p")
  if (place === undefined || before === null || before === undefined) return
  const own = make("p", { class: "words sealed journal__words", dir: "auto" }, words)
  own.style.minHeight = `${before.offsetHeight}px`
  const doors = make("p", { class: "doors" })
  const rest = () => doors.replaceChildren(...(mayReveal ? [opener] : []), "Only you can read this.")
  const opener = button("Open it", () => {
    const attributes = { class: "button button--alarm", form: form.id, [attributeOf("reveals")]: "" }
    const reveal = make("button", attributes, "Reveal to everyone")
    const keep = button("Keep it sealed", () => {
      rest()
      opener.focus()
    })
    own.classList.remove("journal__words")
    doors.replaceChildren(warning, reveal, keep)
    reveal.focus()
  })
  rest()
  place.replaceChildren(own, doors)
}

const attach = (form: ElementOf<"check">) => {
  const { name = "", on, reveal: url } = valuesOf("check", form)
  const [salt, words, commitment] = [marked("salt", form), marked("words", form), marked("commitment", form)]
  const [note, result] = [marked("filled", form), marked("result", form)]
  const against = () => commitment.value.trim()

  /** Fills in words for the commitment, of this browser or of a file, and says so. */
  const fill = (kept: Keepsake | undefined, says: string) => {
    if (kept === undefined) return
    salt.value = kept.salt
    words.value = kept.words
    for (const control of all(".take", HTMLElement, form)) control.hidden = true
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
    const says = isShown
      ? "Everyone can read and check these words now."
      : "The altar stores them, but shows neither them nor their salt."
    // They stand here also where the page cannot be loaded again.
    for (const place of allMarked("owner")) place.replaceChildren(make("blockquote", { class: "words" }, words.value))
    const place = form.closest("details") ?? form
    place.replaceWith(verdict("holds", "Revealed.", says))
    // A text was sealed, so no file can be checked.
    for (const check of allMarked("fileCheck")) check.remove()
    await renew()
    await checkReveals()
    const [final] = allMarked("wordsShown")
    const stand =
      final?.closest<HTMLElement>("h1, blockquote") ??
      document.querySelector<HTMLElement>(`.words.quiet, ${selectorOf("owner")} blockquote`)
    stand?.setAttribute("tabindex", "-1")
    stand?.focus()
  }

  const check = async (isRevealing: boolean) => {
    const computed = await commitmentOf(salt.value, words.value)
    if (computed === against()) {
      const existed = on === undefined ? "" : ` They existed on ${dayWords(on)}.`
      result.replaceChildren(verdict("holds", "They match.", `These words were sealed with this salt.${existed}`))
      return isRevealing && url !== undefined ? revealAt(url) : undefined
    }
    const says = `${isRevealing ? "Nothing was sent. " : ""}This salt and these words hash to `
    result.replaceChildren(verdict("broken", "They do not match.", says, longCode(computed)))
  }

  const refuse = (word: string, message: string) => note.replaceChildren(verdict("broken", word, message))
  const take = ({ entries, refused }: Imported) => {
    const [first] = entries
    if (first === undefined) return refuse("Not restored.", "Its salt and words do not hash to its commitment.")
    const fitting = entries.find((entry) => entry.commitment === against())
    if (fitting === undefined) return refuse("Other words.", "They fit another commitment.")
    fill(fitting, "These are the words of the file.")
    note.append(leftOut(refused))
  }
  // The page of checks takes files by itself.
  if (allMarked("take", form).length > 0) acceptImports(form, take, (message) => refuse("Not restored.", message))
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
  const own = held(against())
  if (own !== undefined) showOwner(own.words, form, url !== undefined)
}

export const start = () => allMarked("check").forEach(attach)
