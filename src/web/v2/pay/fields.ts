/** The fields of a form as plain entries, and the fault that is shown at one of them. */
import { make } from "../page/dom.ts"
import { allMarked, attributeOf, type ElementOf, valuesOf } from "../page/marks.ts"
import type { Entry, Part, Terms } from "./order.ts"

type Field = ElementOf<"body" | "seal">

const parts: ReadonlyArray<Part> = ["place", "seal", "query", "body", "json"]

/** The fields of one part of the request, each with the member that it fills. */
const fieldsOf = (form: HTMLFormElement, part: Part): ReadonlyArray<readonly [name: string, field: Field]> =>
  allMarked(part, form).map((field) => [field.getAttribute(attributeOf(part)) ?? "", field])

/** The field of a member; undefined where the form has none. */
export const fieldNamed = (form: HTMLFormElement, part: Part, wanted: string): Field | undefined =>
  fieldsOf(form, part).find(([name]) => name === wanted)?.[1]

const isUnchosen = (field: Field) => field instanceof HTMLInputElement && field.type === "radio" && !field.checked

/** Chooses a value among those in view. */
export const choose = (form: HTMLFormElement, wanted: string, value: string) => {
  for (const [name, field] of fieldsOf(form, "body"))
    if (name === wanted && field instanceof HTMLInputElement) field.checked = field.value === value
}

/** The enabled fields as they are filled now. */
export const entriesIn = (form: HTMLFormElement): ReadonlyArray<Entry> =>
  parts.flatMap((part) =>
    fieldsOf(form, part).flatMap(([name, field]) =>
      field.disabled || isUnchosen(field) ? [] : [{ part, name, text: field.value, isRequired: field.required }],
    ),
  )

/** The terms of the form, with those of the chosen duration of a candle. */
export const termsIn = (form: ElementOf<"pay">): Terms => {
  const rung = allMarked("rung", form).find(({ checked, disabled }) => checked && !disabled)
  return { ...valuesOf("pay", form), ...(rung && valuesOf("rung", rung)) }
}

/** Says at the field what is wrong with it. */
export const fault = (field: Field | undefined, words: string) => {
  field?.setAttribute("aria-invalid", "true")
  field?.parentElement?.append(make("small", { class: "problem" }, words))
  field?.focus()
}
