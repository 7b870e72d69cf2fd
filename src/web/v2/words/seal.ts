/** Seals, checks and, on their owner's order, reveals words; nothing of them is sent before. */
import { commitmentOf, unsealable } from "../../../buyer/core/Commitment.ts"
import { canHash, randomHex } from "../../../buyer/core/Digest.ts"
import { held, hold } from "./box.ts"
import { all, failure, longCode, make, one, verdict } from "../page/dom.ts"
import { ask, cannotHash, pageFailed, post, refusalOf, sentenceOf, waitOf } from "../page/http.ts"
import { acceptImports, leftOut } from "./import.ts"
import { keepsake } from "./keepsake.ts"

interface Parts {
  readonly form: HTMLFormElement
  readonly salt: HTMLInputElement
  readonly words: HTMLTextAreaElement
  readonly result: HTMLElement
}

const partsOf = (form: HTMLFormElement): Parts => ({
  form,
  salt: one("[data-salt]", HTMLInputElement, form),
  words: one("[data-words]", HTMLTextAreaElement, form),
  result: one("[data-result]", HTMLElement, form),
})

/** Shows the result of `work` on the form's salt and words. */
const answer = (
  form: HTMLFormElement,
  work: (salt: string, words: string, parts: Parts) => Promise<ReadonlyArray<Node>>,
) => {
  const parts = partsOf(form)
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!canHash()) return parts.result.replaceChildren(verdict("broken", "Cannot hash here.", cannotHash))
    void work(parts.salt.value, parts.words.value, parts).then(
      (nodes) => parts.result.replaceChildren(...nodes),
      (error: unknown) =>
        parts.result.replaceChildren(
          ...failure("Not done.", sentenceOf(error, pageFailed), () => form.requestSubmit(), "broken", waitOf(error)),
        ),
    )
  })
}

const match = async (salt: string, words: string, against: string) => {
  const computed = await commitmentOf(salt, words)
  return computed === against
    ? { same: true, findings: [verdict("holds", "They match.", "These words were sealed with this salt.")] }
    : {
        same: false,
        findings: [verdict("broken", "They do not match.", "This salt and these words hash to ", longCode(computed))],
      }
}

/** Fills a form with words that this browser holds for its commitment, and says so. */
const filling = (form: HTMLFormElement, commitment: () => string) => {
  const { salt, words } = partsOf(form)
  const note = one("[data-filled]", HTMLElement, form)
  const offer = () => {
    const kept = held(commitment())
    if (kept === undefined) return
    salt.value = kept.salt
    words.value = kept.words
    for (const field of all(".take", HTMLElement, form)) field.hidden = true
    form.closest("[data-unfold]")?.setAttribute("open", "")
    note.replaceChildren(verdict("holds", "Filled in.", "This browser holds these words."))
  }
  offer()
  return offer
}

const checking = (form: HTMLFormElement, others: ReadonlyArray<() => void>) => {
  const commitment = one("[data-commitment]", HTMLInputElement, form)
  const now = () => commitment.value.trim()
  const offer = filling(form, now)
  const note = one("[data-filled]", HTMLElement, form)
  const refuse = (word: string, message: string) => note.replaceChildren(verdict("broken", word, message))
  // A visitor's input is never overwritten.
  commitment.addEventListener("input", () => partsOf(form).salt.value + partsOf(form).words.value === "" && offer())
  acceptImports(
    form,
    ({ entries: [first, ...more], refused }) => {
      if (first === undefined) return refuse("Not restored.", "Its salt and words do not hash to its commitment.")
      if (now() === "") commitment.value = first.commitment
      if (![first, ...more].some((entry) => entry.commitment === now()))
        return refuse("Other words.", "They fit another commitment. This browser keeps them.")
      for (const each of [offer, ...others]) each()
      if (refused > 0) note.append(make("p", {}, leftOut(refused)))
    },
    (message) => refuse("Not restored.", message),
  )
  answer(form, async (salt, words) => (await match(salt, words, now())).findings)
}

const sealing = (form: HTMLFormElement) =>
  answer(form, async (typed, words) => {
    const salt = typed === "" ? randomHex(16) : typed
    const problem = unsealable(salt, words)
    if (problem !== undefined) return [verdict("broken", "Not sealed.", problem)]
    const kept = hold({ salt, words, commitment: await commitmentOf(salt, words) })
    return [verdict("holds", "Sealed."), keepsake(kept, "sealed-words", true)]
  })

const revealing = (form: HTMLFormElement) => {
  const against = form.dataset["against"] ?? ""
  const offer = filling(form, () => against)
  answer(form, async (salt, words, { form: { dataset } }) => {
    const { findings, same } = await match(salt, words, against)
    if (!same) return [...findings, make("p", {}, "Nothing was sent.")]
    const reply = await ask(dataset["reveal"] ?? "", post({ salt, [dataset["name"] ?? "text"]: words }))
    if (reply.status !== 200 && reply.status !== 201) throw refusalOf(reply)
    // The words take the form's place and get the focus.
    const told = make("blockquote", { class: "words", tabindex: "-1" }, make("p", { dir: "auto" }, words))
    const place = form.closest("details") ?? form
    place.replaceWith(verdict("holds", "Revealed.", "Everyone can read and check these words now."), told)
    for (const old of all("[data-while-sealed]", HTMLElement)) old.remove()
    told.focus()
    return []
  })
  return offer
}

export const start = () => {
  const reveals = all("[data-reveal]", HTMLFormElement).map(revealing)
  for (const form of all("[data-check]", HTMLFormElement)) checking(form, reveals)
  for (const form of all("[data-sealing]", HTMLFormElement)) sealing(form)
}
