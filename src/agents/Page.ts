/** The manual as a page, complete without its one script, which copies code. */
import type { Page } from "../pages/templates/Layout.ts"
import { type Html, html } from "../platform/Html.ts"
import type { Block, Section } from "./Section.ts"
import * as Words from "./Words.ts"

/** Every second piece of a text split at backticks is code. */
const inline = (text: string): ReadonlyArray<Html | string> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))

/** `place` tells its code from all other code of the page. */
const written = (block: Block, id: string, place: string): Html => {
  switch (block._tag) {
    case "Text":
      return html`<p>${inline(block.text)}</p> `
    case "List": {
      const items = block.items.map((item) => html`<li>${inline(item)}</li>`)
      return block.ordered === true
        ? html`<ol>
            ${items}
          </ol> `
        : html`<ul>
            ${items}
          </ul> `
    }
    case "Links":
      return html`<ul>
        ${block.links.map(([title, url, says]) => html`<li><a href="${url}">${title}</a>: ${says}</li>`)}
      </ul> `
    case "Table":
      return html`<div class="scroll" tabindex="0" role="group" aria-label="${block.head.join(", ")}">
        <table>
          <thead>
            <tr>
              ${block.head.map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${block.rows.map(
              (cells) =>
                html`<tr>
                  ${cells.map((cell) => html`<td>${inline(cell)}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div> `
    case "Code": {
      const name = `Commands ${place}`
      return html`<div class="sample">
        <button class="copy" type="button" data-copy="${id}" aria-label="Copy ${name}">Copy</button>
        <pre
          class="${block.language}"
          tabindex="0"
          role="group"
          aria-label="${name}"
        ><code id="${id}">${block.code}</code></pre>
      </div> `
    }
  }
}

export const page = (sections: ReadonlyArray<Section>): Page => ({
  title: "For agents",
  description: Words.description,
  path: "/for-agents",
  chapter: "agents",
  assets: "agents",
  markdown: "/llms.txt",
  note: "Names here are self-declared. Every price is also in the live 402, and that one decides.",
  body: html`<h1>For agents, and for the people they act for</h1>
    <nav aria-label="On this page">
      <details>
        <summary>On this page</summary>
        <ul class="contents">
          ${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          <li><a href="/llms.txt">The same as Markdown</a></li>
        </ul>
      </details>
    </nav>
    ${sections.map(
      ({ blocks, id, title }) =>
        html`<section aria-labelledby="${id}">
          <h2 id="${id}">${title}</h2>
          ${blocks.map((block, index) => written(block, `${id}-${index}`, `${index + 1}, ${title}`))}
        </section> `,
    )}`,
})
