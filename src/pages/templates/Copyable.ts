/** A text to copy: shown as code, with a button that script makes work. */
import { type Html, html } from "../../platform/Html.ts"

/** `what` names the text for readers who do not see it. */
export const copyable = (id: string, text: string, what: string): Html =>
  html`<div class="copy">
    <pre tabindex="0" role="region" aria-label="${what}"><code id="${id}">${text}</code></pre>
    <button type="button" class="button copy__button scripted" data-copy="${id}">
      Copy<span class="unseen"> ${what}</span>
    </button>
  </div>`
