/** An offer: its price, a form that pays from the page, and the way for an agent or a terminal. */
import type { CatalogPayment } from "../../../schema/altar/Catalog.ts"
import { sales } from "../../../schema/altar/Sales.ts"
import { agentNameMaximum } from "../../../schema/Common.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { empty, type Html, html } from "../../platform/Html.ts"
import type { MarksOf } from "../../web/v2/page/marks.ts"
import type { Surroundings } from "../Frame.ts"
import { faucet } from "./Layout.ts"
import { type Mark, mark } from "./Marks.ts"
import { sample } from "./Prose.ts"

/** Explains salt and commitment to newcomers. */
export const sealing = html`Your words are locked with a random code, the salt. Without the salt, a reader could try
guesses. Only a fingerprint of both is published, the commitment. It shows nothing of your words.`

/** The use of sealed words, said where they can be revealed. */
export const showing = "Show words and salt later, and anyone can see that they match."

/** The state of payments, with the money that they take. */
export type Payment = typeof CatalogPayment.Type & Surroundings

export interface Offer {
  /** Unique on its page. */
  readonly id: string
  /** The text of the button before the price. */
  readonly verb: string
  /** The title of the purchase where its words are stored; the verb when absent. */
  readonly title?: string
  readonly path: string
  readonly sale: Sale
  readonly fields: Html
}

const ask = (id: string, label: string, field: Html, hint = "", kind = ""): Html =>
  html`<p class="ask ${kind}">
    <label for="${id}">${label}</label>${field}${hint === "" ? "" : html`<small>${hint}</small>`}
  </p>`

/** A field with its id, its label and its mark, and more attributes. */
type Field<Tag extends "input" | "select" | "textarea"> = readonly [
  id: string,
  label: string,
  mark: Mark<MarksOf<Tag>>,
  attributes?: Html,
]

export const textField = ([id, label, of, more = empty]: Field<"input">, hint = "", kind = ""): Html =>
  ask(id, label, html`<input class="field" id="${id}" autocomplete="off" ${of} ${more} />`, hint, kind)

export const wordsField = ([id, label, of, more = empty]: Field<"textarea">, hint: string, text = ""): Html =>
  ask(id, label, html`<textarea class="field" id="${id}" rows="3" ${of} ${more}>${text}</textarea>`, hint)

export const selectField = (
  [id, label, of, more = empty]: Field<"select">,
  options: Html | ReadonlyArray<Html>,
): Html =>
  ask(
    id,
    label,
    html`<select class="field" id="${id}" ${of} ${more}>
      ${options}
    </select>`,
  )

/** Choices that all stand in view, each a value and its words. */
export const choiceField = (
  [id, label, of]: Field<"input">,
  choices: ReadonlyArray<readonly [value: string, words: string]>,
  chosen: string,
): Html =>
  html`<fieldset class="ask rungs">
    <legend>${label}</legend>
    ${choices.map(
      ([value, words]) =>
        html`<label
          ><input
            type="radio"
            name="${id}"
            value="${value}"
            ${of}
            ${value === chosen ? html` checked` : ""}
          />${words}</label
        >`,
    )}
  </fieldset>`

/** The self-declared name of an act, with the same rule for all acts; a required one has an initial value. */
export const nameField = (id: string, initial?: string): Html =>
  textField(
    [
      id,
      initial === undefined ? "Your public name, if you like" : "Your public name",
      mark("body", { body: "agentName" }),
      html`maxlength="${agentNameMaximum}" ${initial === undefined ? "" : html`value="${initial}" required`}`,
    ],
    "Shown with the act. It is not checked.",
  )

/** Payments are not configured: names the missing settings, and what still works. */
export const notConfigured = ({ missing }: Payment): Html =>
  html`<div class="notice" role="note">
    <p>
      <b>Payments are not configured on this server.</b> Nothing can be bought here, and nothing will be charged.
      Reading, checking and revealing work.
    </p>
    <p class="small">Missing: <code>${missing.join(", ")}</code></p>
  </div>`

/** The money of a wallet, for a buyer who has none yet. */
const funds = {
  play: html``,
  test: html`Test USDC is free: enter the wallet's address at ${faucet} and choose Base Sepolia.`,
  real: html`Most exchanges sell USDC and send it to a wallet; choose Base as the network. No other coin is needed.`,
} as const

const rules =
  ". Ask me for my words and the maximum price before you sign. Seal my words on this machine, and give me the salt and the receipt to keep."

type Called = Pick<Offer, "id" | "path" | "sale" | "verb">

/** The purchases of a page without it: a prompt for an agent each, and the calls of a terminal. */
export const call = ({ money, publicUrl }: Payment, ...sold: ReadonlyArray<Called>): Html =>
  html`<details class="fold call">
    <summary>
      Without a wallet: let an agent or a terminal pay
      ${sold.length === 1 && sold.map(({ sale }) => html`the <span ${mark("price")}>${priceUsd(sale.priceAtomic)}</span>`)}
    </summary>
    <p>
      A wallet is a program that keeps the keys to your money and asks you before it signs. ${funds[money]} An agent
      that can pay by x402 needs only this:
    </p>
    ${sold.map(({ id, path, verb }) =>
      sample(
        `${id}-prompt`,
        "the prompt for an agent",
        html`${`Read ${publicUrl}/llms.txt. Then buy this for me: ${verb}, POST ${publicUrl}`}<span ${mark("route")}
            >${path}</span
          >${rules}`,
      ),
    )}
    <p>
      A terminal makes
      ${sold.map(
        ({ sale, verb }, index) =>
          html`${index > 0 && " or "}<a href="/docs#${sale.name}">${sold.length === 1 ? "this call" : verb}</a>`,
      )},
      which answers 402 with the terms. Any x402 version 2 client pays them by itself, and never twice under one key.
      <a href="/for-agents">For agents</a> has programs.
    </p>
  </details>`

/** Atomic USDC that a wallet needs to buy anything here. */
const dearest = sales.reduce((most, { sale }) => (sale.priceAtomic > most ? sale.priceAtomic : most), 0n)

export const form = (
  payment: Payment,
  { fields, path, sale: { priceAtomic, recorded, repetition }, title, verb }: Omit<Offer, "id">,
): Html =>
  html`<form
    class="pay scripted"
    ${mark("pay", {
      path,
      amount: priceAtomic,
      network: payment.network,
      recorded: JSON.stringify(recorded),
      dearest,
      title: title ?? verb,
      often: repetition === "often" ? "" : undefined,
      play: payment.money === "play" ? "" : undefined,
    })}
    autocomplete="off"
    aria-label="${verb}"
  >
    ${fields}
    <p class="doors">
      <button type="submit" class="button button--main" ${mark("submit")}>
        <span>${verb} for <span class="price" ${mark("price")}>${priceUsd(priceAtomic)}</span></span>
      </button>
    </p>
    <div class="doors" ${mark("wallet")} aria-live="polite">
      <button type="button" class="button" ${mark("connect")}>
        ${payment.money === "play" ? "Make a play wallet" : "Choose how to pay"}
      </button>
    </div>
    <div ${mark("outcome")}><div ${mark("progress")} role="status" aria-atomic="false"></div></div>
  </form>`

/** A form of several on its page, which names the way without it once. */
export const offerAmong = (payment: Payment, sold: Offer): Html =>
  html`${form(payment, sold)}
    <p class="unscripted notice">Paying from this page needs script. An agent or a terminal can pay instead.</p>`

/** The only form of its page and the way without it, or the reason why there is neither. */
export const offer = (payment: Payment, sold: Offer): Html =>
  payment.enabled
    ? html`<div class="offer">${offerAmong(payment, sold)}${call(payment, sold)}</div>`
    : notConfigured(payment)

/** A form, and beside it what a printed guide would set in the margin. */
export const beside = (main: Html, ...aside: ReadonlyArray<Html | string>): Html =>
  html`<div class="beside">
    ${main}
    <div class="aside">${aside.map((words) => html`<p>${words}</p>`)}</div>
  </div>`
