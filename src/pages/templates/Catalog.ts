/** The three catalogs as plates: each item with its remaining editions, and the form that collects one. */
import { type CatalogItem, readPublicationChain } from "../../../schema/altar/Catalog.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { opening, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { call, form, nameField, notConfigured, type Payment, selectField } from "./Offer.ts"
import { spiritOptions } from "./Plates.ts"
import { price, priceWords } from "./Words.ts"

type Item = typeof CatalogItem.Type

export interface CatalogView {
  readonly shelves: ReadonlyArray<{
    readonly id: string
    readonly title: string
    readonly note: string
    readonly items: ReadonlyArray<Item>
  }>
  readonly payment: Payment
}

const terms =
  "An edition is a numbered record kept by this site under the wallet that paid. It is not an on-chain token, cannot be transferred, and has no resale route and no financial return."

const priceHere = priceWords(collectMaterial.sale)

const collectForm = ({ id, name }: Item, payment: Payment): Html =>
  html`<details class="fold scripted">
    <summary>Collect for ${price(collectMaterial.sale.priceAtomic)}<span class="unseen">: ${name}</span></summary>
    ${form(payment, {
      verb: `Collect ${name}`,
      path: filled(collectMaterial.path, { elementId: id }),
      sale: collectMaterial.sale,
      fields: html`${selectField([`for-${id}`, `Dedicate ${name} to an altar, for good`, mark("query", { query: "spirit" })], spiritOptions("no altar", undefined))}${nameField(`by-${id}`)}`,
    })}
  </details>`

const collectCall = (payment: Payment): Html =>
  call(payment, {
    id: "collect",
    verb: "Collect an edition",
    path: filled(collectMaterial.path, { elementId: "river-clay" }),
    sale: collectMaterial.sale,
  })

const item =
  ({ payment }: CatalogView) =>
  (entry: Item): Html => {
    const { altarLine, description, editionSize, id, image, name, remaining } = entry
    return html`<li class="specimen" id="${id}">
      <img src="${image}" alt="" width="256" height="256" loading="lazy" decoding="async" />
      <div class="specimen__head">
        <h3>${name}</h3>
        <p class="small quiet">
          ${remaining === 0 ? `All ${editionSize} are sold or reserved` : html`<b ${mark("left")}>${remaining}</b> of ${editionSize} left`}
        </p>
      </div>
      <p>${description}</p>
      <p class="mark">${altarLine}</p>
      ${remaining > 0 && payment.enabled ? collectForm(entry, payment) : ""}
    </li>`
  }

export const catalog = (view: CatalogView): Page => ({
  title: "The catalog",
  description: `Materials, crabs and pixels in numbered editions, ${priceHere} each. ${terms}`,
  path: "/v2/catalog",
  chapter: "catalog",
  body: html`${opening(
    "The catalog",
    html`Materials, crabs and pixels in numbered editions, ${priceHere} each: small things to keep under your name, or
    to leave on an altar for good.`,
    !view.payment.enabled && notConfigured(view.payment),
    html`<nav class="leaf" aria-label="Catalogs">
      ${view.shelves.map(({ id, items, title }) => html`<a href="#${id}">${title} <small>${items.length}</small></a>`)}
    </nav>`,
  )}
  ${view.shelves.map(({ id, items, note, title }) =>
    section(
      id,
      title,
      note,
      html`<ul class="specimens" role="list">
        ${items.map(item(view))}
      </ul>`,
    ),
  )}
  ${section(
    "terms",
    "What an edition is",
    "",
    html`<p class="column">${terms}</p>
      ${view.payment.enabled ? collectCall(view.payment) : ""}
      <p>
        <a href="${readPublicationChain.path}">The publication chain as JSON</a> has the hash of each artwork and each
        edition.
      </p>`,
  )}`,
})
