/** The manual as a page, complete without its one script, which copies code. */
import { html } from "../platform/Html.ts"
import type { Page } from "../pages/templates/Layout.ts"
import { headingsIn, prose } from "../pages/templates/Prose.ts"
import * as Words from "./Words.ts"

export const page = (manual: string): Page => ({
  title: "For agents",
  description: Words.description,
  path: "/for-agents",
  chapter: "agents",
  assets: "docs",
  markdown: "/llms.txt",
  note: "Names here are self-declared. Every price is also in the live 402, and that one decides.",
  body: html`<div class="reference">
    <header class="intro"><h1>For agents, and for the people they act for</h1></header>
    <nav class="contents" aria-label="On this page">
      <details>
        <summary>On this page</summary>
        <ul>
          ${headingsIn(manual).map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)}
          <li><a href="/llms.txt">The same as Markdown</a></li>
        </ul>
      </details>
    </nav>
    <div class="manual">
      ${manual.split(/^(?=## )/mu).map((section) => html`<section>${prose(section, section.slice(3).split("\n")[0])}</section> `)}
    </div>
  </div>`,
})
