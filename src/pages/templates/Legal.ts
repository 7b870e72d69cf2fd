/** Terms and privacy: the behaviour of the software, for the operator to complete or replace. */
import { Option } from "effect"
import { sales } from "../../../schema/altar/Sales.ts"
import { oneOf } from "../../../schema/Fields.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Operator } from "../../platform/Operator.ts"
import type { Page } from "./Layout.ts"
import { headingsIn, prose } from "./Prose.ts"

type Answering = Operator["Service"]

const things = [...new Set(sales.map(({ sale }) => sale.thing))]

/** The default terms; a test checks that they promise no more than the server keeps. */
const terms = `## What is sold

Each act on this site is a public record: ${oneOf(things)}. Its page says what it is, what it costs and what it leaves behind, before anything is paid.

Collectibles are numbered records of this site. They are not tokens on a chain. They cannot be transferred, carry no copyright and promise no return. A witness stone shows that a commitment existed when its payment was made. It is not legal notarization. It does not prove who wrote the words, or that they are true.

## What you pay

You pay the listed price, once, in USDC on the network that the offer names, or by card where that is offered. A payment on a blockchain is final.

If a payment has reached us and the act can no longer be delivered, we deliver something equal or pay it back. Write to us with the transaction. A refund is a transfer to the wallet that paid, once for each payment, after its authorization has expired. The receipt of the act shows it.

A sandbox takes play money only, which is worth nothing.

You keep your wallet, your salts and your sealed words yourself. We cannot restore them.

## What stays

A settled act is public and stays. Its place in the chain, its hash and its receipt are never changed or removed. We may hide names, dedications and revealed words where the law requires it or these terms are broken; their hashes stay.

## What you write

You answer for what you write. Write nothing unlawful, no threats, no personal data of others, and nothing that you may not publish. Names here are self-declared: do not impersonate others. Do not attack the service or exhaust it at the cost of others.

## Signal rooms

A room is deleted seven days after its creation, or earlier by anyone with its link. Anyone with the link can read and write. A room is not encrypted from end to end: send no secrets.

## No warranty

The service is offered as it is. It may be interrupted, and the networks it depends on may fail. As far as the law allows we are not liable for more than you paid for the act in question; where the law does not allow such a limit, the law holds.

When these terms change, the new ones apply to acts that are paid afterwards.`

const privacy = `## What is public

Every purchase leaves a public record: the wallet that paid, the transaction, the time, and your public texts (a name, a dedication, a reason, revealed words and their salt). It stays, so that anyone can check it. The payment itself is public on its network and cannot be removed there. Sealed words are not sent: only their hash is.

Write no personal data of yourself or others into a public field.

## What is kept about visitors

This software does not store your internet address. For its limits it keeps a keyed hash of the address, which it deletes after a day without a request. There are no accounts, cookies, statistics or third-party scripts. A server or a provider in front of this one may keep a log of its own for a short time, as most do.

Your browser keeps your sealed words and purchases, so that you can show them later, and your name and settings for signal rooms. It keeps no room and no link to one. All of this stays on your device until you delete it.

## Signal rooms

We keep names and messages of a room in plain text until the room ends, after seven days at most, or is deleted. We keep the key in its link only as a hash.

## Other parties that learn of your purchase

The network's nodes learn of your payment, and so does a payment facilitator where one is used. If you pay by card, the card processor learns of it, under its own terms. We see no card number.

## Your rights

Ask us for the data under your wallet, or to hide a name, a dedication or revealed words. Hashes, amounts and transactions stay, because the proofs of other buyers depend on them. Backups keep hidden texts longer than the site.`

const by = (description: string, { contact, name }: Answering): Html =>
  html`<p class="lead">${description}</p>
    <p>
      ${
        Option.isSome(name)
          ? `This server is run by ${name.value}.`
          : "This server does not say who runs it. Do not pay here with real money."
      }
      ${Option.isSome(contact) && html`Write to <a href="${contact.value}">${contact.value.replace(/^mailto:/u, "")}</a>.`}
    </p>`

const page = (title: string, path: string, description: string, operator: Answering, text: string): Page => ({
  title,
  description,
  path,
  chapter: "none",
  body: html`<article class="prose">
    <h1>${title}</h1>
    ${by(description, operator)}
    <nav aria-label="On this page">
      <ul>
        ${headingsIn(text).map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)}
      </ul>
    </nav>
    ${prose(text)}
  </article>`,
})

export const termsPage = (operator: Answering): Page =>
  page(
    "Terms",
    "/terms",
    "The acts sold here, their prices, what stays, and what is promised.",
    operator,
    Option.getOrElse(operator.terms, () => terms),
  )

export const privacyPage = (operator: Answering): Page =>
  page(
    "Privacy",
    "/privacy",
    "The data that this server keeps, what is public, and what you can ask for.",
    operator,
    Option.getOrElse(operator.privacy, () => privacy),
  )
