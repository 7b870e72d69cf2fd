/** The acts of one wallet, and the sealed words in its owner's browser, which the server does not know. */
import { journal, type SettledAct } from "./ActList.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, type Page } from "./Layout.ts"
import { previewOf } from "./Plates.ts"
import { takeField } from "./Seal.ts"
import { sealing } from "./Glossary.ts"
import { short } from "./Words.ts"

export interface MyPurchasesView {
  /** The search as typed; undefined without one. */
  readonly asked: string | undefined
  /** The acts the wallet paid for, newest first; undefined when the search is no wallet. */
  readonly acts: ReadonlyArray<SettledAct> | undefined
  readonly most: number
  readonly now: number
}

const found = ({ acts, asked, most, now }: MyPurchasesView): Html => {
  if (asked === undefined)
    return html`<p class="small quiet">
      Everything a wallet paid for here is public. Asking for it signs nothing and costs nothing.
    </p>`
  if (acts === undefined)
    return html`<p class="problem" role="alert">
      <bdi>${asked}</bdi> is no wallet. A wallet is written as 0x and 40 hexadecimal digits.
    </p>`
  return acts.length === 0
    ? html`<p class="blank">Nothing here was paid by ${short(asked)}. A payment that is still open is not listed.</p>`
    : html`${journal(acts, now, true)}${acts.length === most ? html`<p class="small quiet">These are the newest ${most}. <a href="/v2/wallets/${asked}">All acts of this wallet</a></p>` : ""}`
}

export const myPurchases = (view: MyPurchasesView): Page => ({
  title: "My acts",
  description:
    "The acts that a wallet paid for at the altar, and the sealed words that only its owner's browser holds.",
  path: "/v2/mine",
  chapter: "mine",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>My acts</h1>
      <p class="lead">
        The acts that a wallet paid for, and the box of sealed words. The box is in this browser alone: we cannot send
        you its content again.
      </p>
    </header>
    <section id="wallet" data-renew="wallet" aria-labelledby="wallet-title">
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
          <button type="button" class="button scripted" data-ask-wallet>Ask my wallet</button>
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
              No sealed words are in this browser. Words that you seal here are kept here, from before they are paid
              for.
            </p>
          </div>
          <div data-box-said role="status"></div>
          ${takeField("box-file")}
        </div>
        <div class="aside scripted">
          <p>${sealing}</p>
          <p>
            Clearing this browser's data clears the box. Save it as one file, and restore it here or in another browser.
          </p>
        </div>
      </div>
      <p class="unscripted notice">
        The box is read by script, in this browser alone. Without script, a file you saved opens in any text editor.
      </p>
    </section>`,
})
