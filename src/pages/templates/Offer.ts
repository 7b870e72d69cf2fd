/** An offer: its price, the exact call for an agent, and a form that pays from the page. */
import type { CatalogPayment } from "../../../schema/altar/Catalog.ts"
import { agentNameMaximum } from "../../../schema/Common.ts"
import { sales } from "../../../schema/altar/Sales.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { networkName } from "../../../schema/payments/Usdc.ts"
import { type Html, html } from "../../platform/Html.ts"
import { glossary, type Term } from "./Glossary.ts"
import { faucet, type Surroundings } from "./Layout.ts"
import { sample } from "./Prose.ts"
import { price } from "./Words.ts"

export interface Wanted {
  /** Unique on its page. */
  readonly id: string
  readonly publicUrl: string
  readonly path: string
  readonly verb: string
}

/** Links of the wallets' own that open a page in their app. */
const apps = (url: string): ReadonlyArray<readonly [name: string, href: string]> => {
  const bare = url.replace(/^https?:\/\//u, "")
  return [
    ["Base or Coinbase Wallet", `https://go.cb-w.com/dapp?${new URLSearchParams({ cb_url: url })}`],
    ["MetaMask", `https://metamask.app.link/dapp/${bare}`],
    ["Trust Wallet", `https://link.trustwallet.com/open_url?${new URLSearchParams({ coin_id: "60", url })}`],
  ]
}

export const agentPrompt = ({ path, publicUrl, verb }: Wanted): string =>
  `Read ${publicUrl}/llms.txt. Then buy this for me: ${verb}, POST ${publicUrl}${path}. Ask me for my words and the maximum price before you sign. Seal my words on this machine, and give me the salt and the receipt to keep.`

const onPhone = (url: string): Html =>
  html`<p class="way">With a phone</p>
    <p>
      Open this page inside a wallet app. Some of them make a wallet with a passkey and need no extension and no written
      key.
    </p>
    <p class="doors doors--small">
      ${apps(url).map(([name, href]) => html`<a class="button" rel="external noreferrer" href="${href}">${name}</a>`)}
    </p>`

const dollar = html`<p class="way">A dollar of USDC on Base</p>
  <p>
    USDC is a token worth one US dollar. Base is the network that it moves on here. Most exchanges sell USDC and send it
    to your wallet's address: choose Base as the network. One dollar pays for a hundred stones. You need no other coin,
    because the altar pays the network's fee.
  </p>`

const testDollars = html`<p class="way">Test USDC</p>
  <p>
    This altar takes test USDC on Base Sepolia, a network for trying things out. It is free and worth nothing. Enter
    your wallet's address at ${faucet}, choose Base Sepolia, and it sends you some. You need no other coin, because the
    altar pays the network's fee.
  </p>`

/** `page` is the path that a phone opens. */
export const waysToPay = (money: Surroundings["money"], wanted: Wanted, page: string): Html => {
  const { id, publicUrl } = wanted
  return html`<details class="call" data-ways>
    <summary>No wallet in this browser? Other ways to pay</summary>
    ${money === "real" ? html`${onPhone(`${publicUrl}${page}`)}${dollar}` : money === "test" ? testDollars : ""}
    <p class="way">With an agent</p>
    <p>Give this to an agent that can pay by x402:</p>
    ${sample(`${id}-prompt`, "the prompt for an agent", agentPrompt(wanted))}
    <p>
      A terminal does the same: the call is above, and any x402 client pays it. <a href="/for-agents">For agents</a> has
      programs.
    </p>
  </details>`
}

/** Atomic USDC that a wallet needs to buy anything here. */
const dearest = sales.reduce((most, { sale }) => (sale.priceAtomic > most ? sale.priceAtomic : most), 0n)

/** The state of payments, with the money that they take. */
export type Payment = typeof CatalogPayment.Type & Pick<Surroundings, "money">

export interface Offer {
  /** Unique on its page. */
  readonly id: string
  /** The text of the button before the price. */
  readonly verb: string
  /** The title of the purchase where its words are stored; the verb when absent. */
  readonly title?: string
  readonly path: string
  readonly amountAtomic: bigint
  readonly fields: Html
  /** The JSON body of the call, with the caller's own values in angle brackets; empty for none. */
  readonly body: string
  readonly note: Html | string
  /** Terms explained below the form; wallet and receipt when absent, since its aside explains the others. */
  readonly terms?: ReadonlyArray<Term>
  /** The page that a phone opens for this offer; without one no other ways to pay are listed. */
  readonly page?: string
}

export const callText = (publicUrl: string, path: string, body: string) =>
  [
    "KEY=$(uuidgen)   # names this purchase; a retry keeps it",
    `curl -i -X POST '${publicUrl}${path}' \\`,
    "  -H 'content-type: application/json' \\",
    `  -H "idempotency-key: $KEY"${body === "" ? "" : " \\"}`,
    ...(body === "" ? [] : [`  -d '${body}'`]),
  ].join("\n")

export const textField = (id: string, label: string, attributes: Html, hint: string = ""): Html =>
  html`<p class="ask">
    <label for="${id}">${label}</label
    ><input
      class="field"
      id="${id}"
      autocomplete="off"
      ${attributes}
    />${hint === "" ? "" : html`<small>${hint}</small>`}
  </p>`

/** The self-declared name of an act, with the same rule for all acts; a required one has an initial value. */
export const nameField = (id: string, hint = "", initial?: string): Html =>
  textField(
    id,
    initial === undefined ? "Your public name, if you like" : "Your public name",
    html`data-body="agentName" maxlength="${agentNameMaximum}"
    ${initial === undefined ? "" : html`value="${initial}" required`}`,
    hint,
  )

/** The hint beside a name where there is room. */
export const nameHint = "Shown with the act. It is not checked."

export const wordsField = (id: string, label: string, attributes: Html, hint: string, text: string = ""): Html =>
  html`<p class="ask">
    <label for="${id}">${label}</label><textarea class="field" id="${id}" rows="3" ${attributes}>${text}</textarea
    ><small>${hint}</small>
  </p>`

/** Payments are not configured: names the missing settings, and what still works. */
export const notConfigured = ({ missing }: Payment): Html =>
  html`<div class="notice" role="note">
    <p>
      <b>Payments are not configured on this server.</b> Nothing can be bought here, and nothing will be charged.
      Reading, checking and revealing work.
    </p>
    <p class="small">Missing: ${missing.map((name, index) => html`${index === 0 ? "" : ", "}<code>${name}</code>`)}</p>
  </div>`

/** The call that an agent or a terminal makes instead of the form. */
export const call = (
  publicUrl: string,
  payment: Payment,
  { amountAtomic, body, id, note, path, verb }: Omit<Offer, "fields">,
): Html =>
  html`<details class="call">
    <summary>The exact call for ${price(amountAtomic)}, for an agent or a terminal</summary>
    <p>${note}</p>
    ${sample(`${id}-text`, `the call: ${verb}`, callText(publicUrl, path, body))}
    <p class="small">
      It answers 402 with the terms in <code>PAYMENT-REQUIRED</code>. Sign exactly ${amountAtomic} atomic USDC on
      ${networkName(payment.network)} (${payment.network}) for this URL, and repeat the call unchanged with
      <code>PAYMENT-SIGNATURE</code>. Any x402 version 2 client does that by itself. Repeating it with the same key
      never pays twice.
    </p>
  </details>`

export const form = (
  payment: Payment,
  { amountAtomic, fields, path, title, verb }: Pick<Offer, "amountAtomic" | "fields" | "path" | "title" | "verb">,
): Html =>
  html`<form
    class="pay scripted"
    data-pay
    data-path="${path}"
    data-amount="${amountAtomic}"
    data-network="${payment.network}"
    data-dearest="${dearest}"
    data-title="${title ?? verb}"
    ${payment.money === "play" ? "data-play" : ""}
    autocomplete="off"
    aria-label="${verb}"
  >
    ${fields}
    <p class="pay__go">
      <button type="submit" class="button button--main" data-submit>
        <span>${verb} for <span class="price" data-price>${priceUsd(amountAtomic)}</span></span>
      </button>
    </p>
    <div class="pay__wallet" data-wallet aria-live="polite">
      <button type="button" class="button" data-connect>
        ${payment.money === "play" ? "Make a play wallet" : "Choose how to pay"}
      </button>
    </div>
    <div data-outcome><div class="pay__progress" data-progress role="status" aria-atomic="false"></div></div>
  </form>`

/** The form and its call, or the reason why there is neither. */
export const offer = (publicUrl: string, payment: Payment, sold: Offer): Html =>
  payment.enabled
    ? html`<div class="offer">
        ${form(payment, sold)}
        <p class="unscripted notice">
          Paying from this page needs script. The call below does the same from a terminal or an agent.
        </p>
        ${call(publicUrl, payment, sold)}${sold.page === undefined ? "" : waysToPay(payment.money, { ...sold, publicUrl }, sold.page)}${glossary(...(sold.terms ?? (["wallet", "receipt"] as const)))}
      </div>`
    : notConfigured(payment)
