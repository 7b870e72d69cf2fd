/** The acts of one wallet, and the sealed words in its owner's browser, which the server does not know. */
import { journal, type SettledAct } from "./ActList.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, leaf, type Page } from "./Layout.ts"
import { previewOf } from "./Plates.ts"
import { takeField } from "./Seal.ts"
import { short } from "./Words.ts"

export interface MyPurchasesView {
  /** The search as typed; undefined without one. */
  readonly asked: string | undefined
  /** One page of the acts that the wallet paid for, newest first; undefined when the search is no wallet. */
  readonly acts: ReadonlyArray<SettledAct> | undefined
  /** The acts below this one are shown; undefined for the newest. */
  readonly before: string | undefined
  /** The last act here, when there are older ones. */
  readonly next: string | null
  readonly now: number
}

const found = ({ acts, asked, before, next, now }: MyPurchasesView): Html => {
  if (asked === undefined)
    return html`<p class="small quiet">
      Everything a wallet paid for here is public. Looking it up signs nothing and costs nothing.
    </p>`
  if (acts === undefined)
    return html`<p class="problem" role="alert">
      <bdi>${asked}</bdi> is no wallet. A wallet is written as 0x and 40 hexadecimal digits.
    </p>`
  const newest = `/v2/mine?wallet=${encodeURIComponent(asked)}`
  return acts.length === 0 && before === undefined
    ? html`<p class="blank">${short(asked)} has paid for nothing here yet. Open payments are not listed.</p>`
    : html`${journal(acts, now, true)}${leaf(
          "More of my acts",
          before === undefined ? undefined : html`<a href="${newest}">Newest acts</a>`,
          next === null ? undefined : html`<a rel="next" href="${newest}&before=${next}">Older acts</a>`,
        )}
        <p class="small quiet"><a href="/v2/wallets/${asked}">The public page of this wallet</a></p>`
}

export const myPurchases = (view: MyPurchasesView): Page => ({
  title: "My acts",
  description: "The acts that a wallet paid for at the altar, and the sealed words that only its owner's browser has.",
  path: "/v2/mine",
  chapter: "mine",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>My acts</h1>
      <p class="lead">The acts that a wallet paid for, and the sealed words that only this browser has.</p>
    </header>
    <section id="wallet" aria-labelledby="wallet-title">
      ${heading("wallet-title", "By wallet")}
      <search>
        <form class="filter" action="/v2/mine" method="get">
          <label class="unseen" for="wallet-address">Wallet</label
          ><input
            class="field"
            id="wallet-address"
            name="wallet"
            value="${view.asked ?? ""}"
            required
            maxlength="100"
            spellcheck="false"
            autocomplete="off"
            placeholder="0x…"
          />
          <button class="button">Show</button>
          <button type="button" class="button scripted" data-ask-wallet>Use my wallet</button>
        </form>
        <div data-wallets aria-live="polite"></div>
      </search>
      ${found(view)}
    </section>
    <section id="box" aria-labelledby="box-title">
      ${heading("box-title", "Sealed words in this browser", html`<span data-box-count></span>`)}
      <div class="beside">
        <div class="scripted" data-box>
          <div data-box-list>
            <p class="blank awaited">
              No sealed words are in this browser. Words you seal are saved in this browser before you pay.
            </p>
          </div>
          <div data-box-said role="status"></div>
          ${takeField("box-file")}
        </div>
        <div class="aside scripted">
          <p>
            Clearing this browser's data clears the box. Save everything as one file: words, salts, and open signed
            payments. Drop the file on this page in another browser to restore it. We have no copy.
          </p>
        </div>
      </div>
      <p class="unscripted notice">
        The box is read by script, in this browser alone. Without script, a file you saved opens in any text editor.
      </p>
    </section>`,
})
