/** An offer: its price, the exact call for an agent, and a form that pays from the page. */
import type { CatalogPayment } from "../../../schema/altar/Catalog.ts"
import { agentNameMaximum } from "../../../schema/Common.ts"
import { sales } from "../../../schema/altar/Sales.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { networkName } from "../../../schema/payments/Usdc.ts"
import { type Html, html } from "../../platform/Html.ts"
import { glossary, type Term } from "./Glossary.ts"
import type { Surroundings } from "./Layout.ts"
import { sample } from "./Prose.ts"
import { waysToPay } from "./WaysToPay.ts"
import { price } from "./Words.ts"

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
