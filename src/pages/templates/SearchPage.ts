/** Search by anything a reader has in hand: a number, a hash, a name, a wallet, a link, words or a file. */
import type { Excerpt } from "../../altar/Acts.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "./Layout.ts"
import { previewOf } from "./Plates.ts"
import { count, moment } from "./Words.ts"

export interface Found {
  readonly asked: string
  /** The scope of the search and its limits. */
  readonly scope: string
  readonly hits: ReadonlyArray<{
    readonly path: string
    readonly words: string
    readonly at: string
    /** Where the searched words stand, for acts that were found by them. */
    readonly excerpt?: Excerpt
  }>
}

const quoted = (excerpt: Excerpt): Html =>
  html`<br /><q
      ><bdi>${excerpt.map(({ isMatch, text }) => (isMatch ? html`<mark>${text}</mark>` : html`${text}`))}</bdi></q
    >`

const results = ({ asked, hits, scope }: Found): Html =>
  html`<div class="found" role="status">
    <p>
      ${hits.length === 0 ? "Nothing found" : `${count(hits.length, "act")} found`} for
      <code class="asked">${asked}</code>.
    </p>
    ${
      hits.length === 0
        ? ""
        : html`<ul>
            ${hits.map((hit) => html`<li><a href="${hit.path}">${hit.words}</a>, ${moment(hit.at)}${hit.excerpt === undefined ? "" : quoted(hit.excerpt)}</li>`)}
          </ul>`
    }
    <p class="small quiet">${scope}</p>
  </div>`

const hint = html`<p class="small quiet">
  Type what this site prints: a stone's number, an id, a hash or its ends, a spirit, a public name, a wallet, a
  transaction, a pasted link, or words of a public text. Quotes find a phrase, and a minus leaves a word out.
</p>`

/** Hashes a file here and searches for its hash. */
const byFile = html`<div class="ask take scripted column" data-file-search="/v2/search">
  <label for="search-file">Or a file</label><input class="field" id="search-file" type="file" data-file /><small
    >Choose it, or drop it here. It is hashed in this browser and not sent. The search finds the stone that was set of
    this file.</small
  >
  <div data-file-said role="status"></div>
</div>`

export const searchPage = (found: Found | undefined): Page => ({
  title: found === undefined ? "Search" : `Search: ${found.asked}`,
  description: "Find an act, a stone, a spirit or a wallet by whatever you have of it, or by its words.",
  path: "/v2/search",
  chapter: "search",
  preview: previewOf("guide"),
  body: html`<header class="opening opening--close">
      <h1>Search</h1>
    </header>
    <section id="search" aria-label="Search">
      <search class="column">
        <form class="filter" action="/v2/search" method="get">
          <label class="unseen" for="search-words">Number, hash, name, wallet, transaction, link or words</label
          ><input
            class="field"
            id="search-words"
            name="q"
            type="search"
            value="${found?.asked ?? ""}"
            required
            maxlength="300"
            spellcheck="false"
            autocomplete="off"
            placeholder="#3, a hash, a name, a wallet, words"
          />
          <button class="button">Search</button>
        </form>
        ${found === undefined ? "" : results(found)}${found === undefined || found.hits.length === 0 ? hint : ""}
      </search>
      ${byFile}
    </section>`,
})
