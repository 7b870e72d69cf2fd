/** The sealed words and open payments in a visitor's browser, which the server does not know. */
import { html } from "../../platform/Html.ts"
import { opening, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { beside } from "./Offer.ts"
import { takeField } from "./Seal.ts"

export const myPurchases: Page = {
  title: "My words",
  description: "The sealed words and open payments in this browser, and the acts of a wallet.",
  path: "/v2/mine",
  chapter: "mine",
  body: html`${opening(
    "My words",
    html`The words you sealed in this browser. <a href="/v2/acts">Acts</a> lists everything that your wallet paid for.`,
    html`<p class="doors scripted"><button type="button" class="button" ${mark("askWallet")}>Use my wallet</button></p>
      <div ${mark("wallets")} aria-live="polite"></div>`,
  )}
  ${section(
    "box",
    "Sealed words in this browser",
    html`<span ${mark("boxCount")}></span>`,
    beside(
      html`<div class="scripted" ${mark("box")}>
        <div ${mark("boxList")}>
          <p class="blank awaited">
            No sealed words are in this browser. <a href="/v2/stone">Set a stone</a>: its words are saved here before
            you pay.
          </p>
        </div>
        ${takeField("box-file")}
        <div ${mark("boxSaid")} role="status"></div>
      </div>`,
      "Clearing this browser's data deletes these words. Save everything as one file: words, salts, and open signed payments. Drop the file on this page in another browser to restore it. We have no copy of words that you did not reveal.",
    ),
    html`<p class="unscripted notice">
      The box is read by script, in this browser alone. Without script, a file you saved opens in any text editor.
    </p>`,
  )}`,
}
