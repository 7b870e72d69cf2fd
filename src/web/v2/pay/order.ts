/** A filled form as an order: its terms, its body, and its words sealed. */
import { normalizedLength, wordsMaximum } from "../../../../schema/altar/Recipe.ts"
import { commitmentOf, unsealable } from "../../../buyer/core/Commitment.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { parsed } from "../../../buyer/core/Json.ts"
import { all, make } from "../page/dom.ts"
import { AnswerError } from "../page/http.ts"
import type { Keepsake } from "../words/box.ts"
import { hashed } from "../words/files.ts"
import type { Listed } from "./purchase.ts"

export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The filled and enabled fields of a form with a mark, each with the mark's value. */
const filled = (form: HTMLFormElement, mark: string) =>
  [...form.querySelectorAll<Field>(`[data-${mark}]:enabled`)].flatMap((field) =>
    field.value.trim() === "" ? [] : [[field.dataset[mark] ?? "", field.value] as const],
  )

/** The chosen duration of a candle, with its path and price. */
const rungOf = (form: HTMLFormElement) => all("input[data-amount]:checked:enabled", HTMLInputElement, form)[0]

/** Says at the field what is wrong with it. */
export const fault = (field: Field | null, words: string) => {
  field?.setAttribute("aria-invalid", "true")
  field?.parentElement?.append(make("small", { class: "problem" }, words))
  field?.focus()
}

/** The terms of the form as it is filled. */
export const listedIn = (form: HTMLFormElement): Listed => {
  const {
    amount = "",
    network = "",
    path = "",
    recorded = "",
    title = "",
  } = {
    ...form.dataset,
    ...rungOf(form)?.dataset,
  }
  // A choice in the form completes the path.
  const place = filled(form, "place").reduce(
    (whole, [name, value]) => whole.replace(name, encodeURIComponent(value)),
    path,
  )
  const query = new URLSearchParams(filled(form, "query").map(([name, value]) => [name, value])).toString()
  return { path: query === "" ? place : `${place}?${query}`, amount, network, title, recorded }
}

export const orderOf = async (form: HTMLFormElement) => {
  await hashed()
  const blank = [...form.querySelectorAll<Field>(":required:enabled")].find(({ value }) => value.trim() === "")
  if (blank !== undefined) {
    fault(blank, "Write something first.")
    throw new AnswerError("Mend the marked field.")
  }
  const listed = listedIn(form)
  const body = Object.fromEntries([
    ...filled(form, "body").map(([name, value]) => [name, value.trim()] as const),
    ...filled(form, "json").map(([name, value]) => [name, parsed(value)] as const),
  ])
  let keepsake: Keepsake | null = null
  for (const [name, words] of filled(form, "seal")) {
    const salt = randomHex(16)
    const problem = unsealable(salt, words)
    if (problem !== undefined) {
      fault(form.querySelector<Field>(`[data-seal="${name}"]`), problem)
      throw new AnswerError("Mend the marked field.")
    }
    keepsake = { salt, words, commitment: await commitmentOf(salt, words) }
    body[name] = keepsake.commitment
  }
  return { listed, body: Object.keys(body).length === 0 ? "" : JSON.stringify(body), keepsake }
}

/** How many characters may still be sealed, when few are left. */
export const leftOf = (words: string): string => {
  const left = wordsMaximum - normalizedLength(words)
  return left > 40 ? "" : left < 0 ? ` ${-left} too many.` : ` ${left} left.`
}
