/** The frame of every page of the field guide: head, navigation and foot, readable without script. */
import { assetPath, modulePreloads, preloads } from "../../platform/Assets.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import type { Surroundings } from "../Frame.ts"
import { mark } from "./Marks.ts"

export interface Page {
  readonly title: string
  readonly description: string
  /** Path of the page, with the query if it identifies the page; absent where the address names nothing. */
  readonly path?: string
  readonly chapter: (typeof chapters)[number][0] | "none"
  /** The folder of its style and its script, where they are not those of the field guide. */
  readonly assets?: "docs" | "signals"
  /** The name of the fixed picture that is shown where the page is shared; that of the guide, when absent. */
  readonly preview?: string
  /** The page's own picture instead. */
  readonly picture?: { readonly path: string; readonly alt: string } | false
  readonly body: Html
  /** The note in the foot, on pages that are not about paid acts. */
  readonly note?: string
}

/** The source of free test USDC. */
export const faucet = html`<a href="https://faucet.circle.com" rel="external noreferrer">Circle's faucet</a>`

/** Said above every page of a server that takes no real money; style adds the same beside each price. */
const moneyNotice = {
  real: html``,
  test: html`<aside class="money" aria-label="The money here">
    <b>Test network.</b> This altar takes test USDC on Base Sepolia, which is worth nothing and free at ${faucet}. Acts
    here are not permanent.
  </aside>`,
  play: html`<aside class="money" aria-label="The money here">
    <b>Sandbox.</b> You pay with play money. Nothing here costs anything or lasts.
  </aside>`,
} as const

const chapters = [
  ["guide", "/v2/", "Spirits"],
  ["stone", "/v2/stone", "Set a stone"],
  ["witness", "/v2/witness", "Chain"],
  ["check", "/verify", "Check"],
  ["mine", "/v2/mine", "My words"],
  ["candles", "/v2/candles", "Candles"],
  ["catalog", "/v2/catalog", "Catalog"],
  ["acts", "/v2/acts", "Acts"],
  ["agents", "/for-agents", "For agents"],
  ["docs", "/docs", "API"],
  ["room", "/signals/", "Signal room"],
] as const

/** The chapters after these are folded. */
const unfolded = 5

const navigation = (current: Page["chapter"]): Html => {
  const links = chapters.map(
    ([name, path, title]) => html`<a href="${path}" ${name === current && html`aria-current="page"`}>${title}</a>`,
  )
  const isFolded = chapters.slice(unfolded).some(([name]) => name === current)
  return html`<nav aria-label="Site">
    ${links.slice(0, unfolded)}
    <button type="button" popovertarget="more" ${isFolded && html`aria-current="true"`}>
      More&nbsp;<span aria-hidden="true">▾</span>
    </button>
    <div id="more" popover>${links.slice(unfolded)}</div>
  </nav>`
}

/** A whole document; absolute addresses are below `publicUrl`. */
export const layout = ({ money, publicUrl }: Surroundings, page: Page): string => {
  const picture = page.picture || { path: `/art/previews/${page.preview ?? "guide"}.png`, alt: page.title }
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#f6f1e4" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#14171a" media="(prefers-color-scheme: dark)" />
        <title>${page.title} · Spirit Altar</title>
        <meta name="description" content="${page.description}" />
        ${
          page.path !== undefined &&
          html`<link rel="canonical" href="${publicUrl}${page.path}" />
            <meta property="og:url" content="${publicUrl}${page.path}" />`
        }
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="Spirit Altar" />
        <meta property="og:title" content="${page.title}" />
        <meta property="og:description" content="${page.description}" />
        <meta property="og:image" content="${publicUrl}${picture.path}" />
        <meta property="og:image:alt" content="${picture.alt}" />
        <meta name="twitter:card" content="summary_large_image" />
        <link rel="icon" href="/style/icon.svg" type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/art/icons/touch-180.png" />
        <link rel="alternate" type="application/atom+xml" title="Acts" href="/acts.atom" />
        ${preloads()}
        <link rel="stylesheet" href="${assetPath(`/${page.assets ?? "v2"}/page.css`)}" />
        ${modulePreloads(`/${page.assets ?? "v2"}/main.js`)}
        <script type="module" src="${assetPath(`/${page.assets ?? "v2"}/main.js`)}"></script>
      </head>
      <body>
        <a class="skip button" href="#main">Skip to the content</a>
        <header class="site">
          <a class="site__name" href="/v2/">Spirit Altar</a>
          ${navigation(page.chapter)}
        </header>
        ${moneyNotice[money]}
        <p class="offline" role="status" ${mark("offline")} hidden>
          You are offline. This page shows what it showed when it was loaded. Payments need a connection.
        </p>
        <main id="main">${page.body}</main>
        <footer class="foot">
          <p>
            ${page.note ?? "Every act costs what its page says, once, and leaves a public record that anyone can check. Names are self-declared."}
          </p>
          <p>
            <a href="/verify">Check</a> <a href="/docs">API</a> <a href="/signals/">Signal room</a>
            <a href="/acts.atom">Feed</a> <a href="/terms">Terms</a> <a href="/privacy">Privacy</a>
          </p>
        </footer>
      </body>
    </html> `.text
}

/** Links at the end of a page or list; nothing without any. */
export const more = (label: string, ...links: ReadonlyArray<Html | false | undefined>): Value =>
  links.some(Boolean) && html`<nav class="leaf" aria-label="${label}">${links}</nav>`

/** A path with the members of a query that are there. */
export const hrefOf = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

interface Paged {
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** Set on pages after the first. */
  readonly before: string | number | undefined
  readonly next: string | number | null
}

/** Links to the newest entries of a list, and to older ones. */
export const pager = (what: string, { before, next, path, query = {} }: Paged): Value =>
  more(
    `More ${what}`,
    before !== undefined && html`<a href="${hrefOf(path, query)}">Newest ${what}</a>`,
    next !== null && html`<a rel="next" href="${hrefOf(path, { ...query, before: next })}">Older ${what}</a>`,
  )

/** The head of a page, with what comes first on it. */
export const opening = (title: Value, lead: Value, ...first: ReadonlyArray<Value>): Html =>
  html`<header class="opening">
    <h1>${title}</h1>
    <p class="lead">${lead}</p>
    ${first}
  </header>`

/** A section under a ruled head, its note in the margin. */
export const section = (id: string, title: string, note: Value, ...body: ReadonlyArray<Value>): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title">
    <header class="head">
      <h2 id="${id}-title">${title}</h2>
      <p class="head__note">${note}</p>
    </header>
    ${body}
  </section>`

/** One plate facing its text. */
export const folio = (plate: Value, ...text: ReadonlyArray<Value>): Html =>
  html`<article class="folio">
    <div class="folio__plate">${plate}</div>
    <div class="text">${text}</div>
  </article>`

export const fold = (summary: Value, ...body: ReadonlyArray<Value>): Html =>
  html`<details class="fold">
    <summary>${summary}</summary>
    ${body}
  </details>`

/** A place where nothing is yet. */
export const blank = (words: Value): Html => html`<p class="blank">${words}</p>`
