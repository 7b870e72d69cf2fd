/** Pieces of markup that the reference and its error pages share. */
import type { Schema } from "effect"
import { type Html, html } from "../../platform/Html.ts"
import { money } from "../templates/Words.ts"

/** Every second piece of a text split at backticks is code. */
export const inline = (text: string): ReadonlyArray<Html | string> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))

/** A summary ends with its price, to which the style adds what money it is. */
export const priced = (summary: string) => {
  const [, words = summary, dollars] = /^(.*) \(([0-9.]+) USD\)$/u.exec(summary) ?? []
  return dollars === undefined ? words : html`${words}, ${money(`$${dollars}`)}`
}

export const json = (value: Schema.Json) => JSON.stringify(value, null, 2)

/** A block of code that scrolls by itself, with its copy button. */
export const pre = (id: string, label: string, text: string) =>
  html`<div class="sample">
    <button class="copy" type="button" data-copy="${id}" aria-label="Copy ${label}">Copy</button>
    <pre tabindex="0" role="group" aria-label="${label}"><code id="${id}">${text}</code></pre>
  </div>`
