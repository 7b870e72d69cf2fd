/** The code beside an operation: its samples in each language, and one example of each answer. */
import { html } from "../../platform/Html.ts"
import { examplesOf, languages } from "./Examples.ts"
import { exampleOf, type Forms } from "./Form.ts"
import { answerOf, type Operation, statusesOf } from "./Operations.ts"
import { json, pre } from "./Parts.ts"

/** One example of each success and of the offer. Other refusals show theirs on the page of their code. */
export const shownAnswers = (forms: Forms, operation: Operation) => {
  const once = statusesOf(forms, operation).filter(
    ({ form, status }, index, all) =>
      form !== undefined &&
      (Number(status) < 400 || status === "402") &&
      all.findIndex((one) => one.form !== undefined && one.status === status) === index,
  )
  const usual = answerOf(operation)?.[0] ?? once[0]?.status
  return html`<div class="samples">
    ${once.map(
      ({ form = {}, status }) =>
        html`<details name="${operation.operationId}-answers" ${status === usual ? html`open` : ""}>
          <summary>Answer ${status}</summary>
          ${pre(`${operation.operationId}-${status}`, `Example answer ${status}`, json(exampleOf(forms, form)))}
        </details>`,
    )}
  </div>`
}

/** A style shows the sample of the chosen language; curl stands in where an operation has no command. */
export const samples = (publicUrl: string, forms: Forms, operation: Operation, id = operation.operationId) => {
  const examples = examplesOf(publicUrl, forms, operation)
  const lacksCommand = examples.length < languages.length
  return html`<div class="samples">
    ${examples.map(
      ({ name, text }) =>
        html`<div class="in-${name.toLowerCase()}${name === "curl" && lacksCommand ? " in-command" : ""}">
          ${pre(`${id}-${name.toLowerCase()}`, `${name} example`, text)}
        </div>`,
    )}
  </div>`
}

/** One choice for all examples, which works without script; the script remembers it. */
export const choice = html`<fieldset class="languages">
  <legend>Examples in</legend>
  ${languages.map(
    (name, index) =>
      html`<label
        ><input
          type="radio"
          name="language"
          id="in-${name.toLowerCase()}"
          value="${name.toLowerCase()}"
          ${index === 0 ? html`checked` : ""}
        />${name}</label
      >`,
  )}
</fieldset>`
