/** The manual as a page, complete without its one script, which copies code. */
import { assetPath, preloads } from "../platform/Assets.ts"
import { type Html, html } from "../platform/Html.ts"
import type { Block, Section } from "./Section.ts"
import * as Words from "./Words.ts"

/** The page loads nothing from elsewhere. */
export const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

/** Every second piece of a text split at backticks is code. */
const inline = (text: string): ReadonlyArray<Html | string> =>
  text.split("`").map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))

const said: Readonly<Record<string, string>> = {
  http: "A request",
  values: "Values",
  sh: "Commands",
  js: "A file",
  json: "JSON",
  prints: "What they print",
}

const written = (block: Block, id: string): Html => {
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
    case "Code":
      return html`<div class="code">
        <button class="copy" type="button" data-copy="${id}" aria-label="Copy ${said[block.language] ?? "code"}">
          Copy
        </button>
        <pre
          class="${block.language}"
          tabindex="0"
          role="group"
          aria-label="${said[block.language] ?? "Code"}"
        ><code id="${id}">${block.code}</code></pre>
      </div> `
  }
}

export const page = (publicUrl: string, sections: ReadonlyArray<Section>): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>For agents · ${Words.name}</title>
        <meta name="description" content="${Words.description}" />
        <link rel="canonical" href="${publicUrl}/for-agents" />
        <link rel="alternate" type="text/markdown" href="/llms.txt" />
        <link rel="service-desc" type="application/json" href="/openapi.json" />
        <link rel="icon" href="/style/icon.svg" type="image/svg+xml" />
        ${preloads()}
        <link rel="stylesheet" href="${assetPath("/agents/page.css")}" />
        <script type="module" src="${assetPath("/agents/main.js")}"></script>
      </head>
      <body>
        <a class="skip button" href="#main">Skip to the content</a>
        <header class="site">
          <a class="site__name" href="/v2/">${Words.name}</a>
          <nav aria-label="Pages">
            <a href="/v2/">Field guide</a><a href="/signals/">Signal room</a
            ><a href="/for-agents" aria-current="page">For agents</a><a href="/docs">API</a>
          </nav>
        </header>
        <main id="main">
          <h1>For agents, and for the people they act for</h1>
          <nav aria-label="On this page">
            <ul class="contents">
              ${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
            </ul>
          </nav>
          ${sections.map(
            ({ blocks, id, title }) =>
              html`<section aria-labelledby="${id}">
                <h2 id="${id}">${title}</h2>
                ${blocks.map((block, index) => written(block, `${id}-${index}`))}
              </section> `,
          )}
        </main>
        <footer class="foot">
          <p>
            The same text as Markdown: <a href="/llms.txt">llms.txt</a>. Names here are self-declared; every price is
            also in the live 402, and that one decides.
          </p>
          <p><a href="/terms">Terms</a> <a href="/privacy">Privacy</a></p>
        </footer>
      </body>
    </html> `.text
