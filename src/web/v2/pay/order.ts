/** The order of a form: its path, its price, and its body with words sealed here. */
import { commitmentOf, unsealable } from "../../../buyer/core/Commitment.ts"
import { randomHex } from "../../../buyer/core/Digest.ts"
import { all } from "../page/dom.ts"
import { AnswerError } from "../page/http.ts"
import type { Keepsake } from "../words/box.ts"
import type { Listed } from "./purchase.ts"

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

const fields = (form: HTMLFormElement, name: string): ReadonlyArray<Field> => [
  ...all(`input[data-${name}]`, HTMLInputElement, form),
  ...all(`textarea[data-${name}]`, HTMLTextAreaElement, form),
  ...all(`select[data-${name}]`, HTMLSelectElement, form),
]

export const orderOf = async (form: HTMLFormElement) => {
  const rung = all("input[data-path]:checked", HTMLInputElement, form)[0]
  const query = new URLSearchParams(
    fields(form, "query").flatMap((field) => (field.value === "" ? [] : [[field.dataset["query"] ?? "", field.value]])),
  ).toString()
  const written = rung?.dataset["path"] ?? form.dataset["path"] ?? ""
  // An altar that is chosen in the form completes the path.
  const place = fields(form, "place")[0]
  const path = place === undefined ? written : written.replace(place.dataset["place"] ?? "", place.value)
  const listed: Listed = {
    path: `${path}${query === "" ? "" : `?${query}`}`,
    amount: rung?.dataset["amount"] ?? form.dataset["amount"] ?? "",
    network: form.dataset["network"] ?? "",
    title: form.dataset["title"] ?? "",
  }
  const body: Record<string, string> = {}
  for (const field of fields(form, "body")) {
    const value = field.value.trim()
    if (value !== "") body[field.dataset["body"] ?? ""] = value
  }
  let keepsake: Keepsake | null = null
  for (const field of fields(form, "seal")) {
    if (field.value.trim() === "") continue
    const salt = randomHex(16)
    const problem = unsealable(salt, field.value)
    if (problem !== undefined) throw new AnswerError(problem)
    keepsake = { salt, words: field.value, commitment: await commitmentOf(salt, field.value) }
    body[field.dataset["seal"] ?? ""] = keepsake.commitment
  }
  return { listed, body: Object.keys(body).length === 0 ? "" : JSON.stringify(body), keepsake }
}
