/** The three catalogs as plates: each item with its remaining editions and its published artwork. */
import { type CatalogItem, type PublicationManifest, readPublicationChain } from "../../../schema/altar/Catalog.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, type Page } from "./Layout.ts"
import { call, form, nameField, notConfigured, type Payment } from "./Offer.ts"
import { plates, previewOf } from "./Plates.ts"
import { code, facts } from "./RecordTable.ts"
import { glossary } from "./Glossary.ts"
import { count, price, priceWords } from "./Words.ts"

type Item = typeof CatalogItem.Type

export interface CatalogView {
  readonly shelves: ReadonlyArray<{
    readonly id: string
    readonly title: string
    readonly note: string
    readonly items: ReadonlyArray<Item>
  }>
  readonly payment: Payment
  readonly publicUrl: string
}

const manifest = (
  { artwork, collection, editionSize, name, publisher, schema, terms }: typeof PublicationManifest.Type,
  id: string,
): Html =>
  html`<details class="manifest">
    <summary>Publication manifest<span class="unseen"> of ${name}</span></summary>
    <dl class="facts">
      ${facts([
        ["Schema", html`<code>${schema}</code>`],
        ["Publisher", `${publisher}, ${collection}, ${editionSize} editions`],
        [
          "Artwork",
          html`<a href="${artwork.path}">${artwork.path}</a>, ${artwork.mimeType}, ${artwork.width} × ${artwork.height},
            ${count(artwork.bytes, "byte")}`,
        ],
        ["SHA-256", code(artwork.sha256)],
        ["Terms", terms],
      ])}
    </dl>
    <div class="scripted" data-artwork="${artwork.path}" data-sha256="${artwork.sha256}" data-bytes="${artwork.bytes}">
      <button type="button" class="button" aria-describedby="name-${id}">Hash the artwork here</button>
      <div data-result role="status"></div>
    </div>
  </details>`

/** Written once; the page's script copies the altars into each form. */
const altars = html`<template id="altars"
  >${plates.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}</template
>`

const terms =
  "An edition is a numbered record kept by this site under the wallet that paid. It is not an on-chain token, cannot be transferred, and has no resale route and no financial return."

const priceHere = priceWords(collectMaterial.sale)

const collectForm = ({ id, name }: Item, { payment }: CatalogView): Html =>
  form(payment, {
    verb: `Collect ${name}`,
    path: filled(collectMaterial.path, { elementId: id }),
    amountAtomic: collectMaterial.sale.priceAtomic,
    fields: html`<p class="ask">
        <label for="for-${id}">Dedicate ${name} to an altar, for good</label
        ><select class="field" id="for-${id}" data-query="spirit" data-options="altars">
          <option value="">no altar</option>
        </select>
      </p>
      ${nameField(`by-${id}`)}`,
  })

const collectCall = ({ payment, publicUrl }: CatalogView): Html =>
  call(publicUrl, payment, {
    id: "collect",
    verb: "Collect an edition",
    path: filled(collectMaterial.path, { elementId: "river-clay" }),
    amountAtomic: collectMaterial.sale.priceAtomic,
    body: "",
    note: html`Put the id of an item in place of <code>river-clay</code>. Add <code>?spirit=moss-hare</code> to dedicate
      it; then the query is part of the URL you sign.`,
  })

const leftOver = ({ editionSize, remaining }: Item): Html =>
  remaining === 0
    ? html`<p class="specimen__left">All ${editionSize} are sold or reserved</p>`
    : html`<p class="specimen__left"><b>${remaining}</b> of ${editionSize} left</p>`

const item = (one: Item, view: CatalogView): Html => {
  const isForSale = one.remaining > 0 && view.payment.enabled
  return html`<li class="specimen" id="${one.id}">
    <figure><img src="${one.image}" alt="" width="256" height="256" loading="lazy" decoding="async" /></figure>
    <div class="specimen__head">
      <h3 id="name-${one.id}">${one.name}</h3>
      ${leftOver(one)}
    </div>
    <p>${one.description}</p>
    <p class="specimen__altar">${one.altarLine}</p>
    ${
      isForSale
        ? html`<details class="fold scripted">
            <summary>
              Collect for ${price(collectMaterial.sale.priceAtomic)}<span class="unseen">: ${one.name}</span>
            </summary>
            ${collectForm(one, view)}
          </details>`
        : ""
    }${manifest(one.publicationManifest, one.id)}
  </li>`
}

export const catalog = (view: CatalogView): Page => ({
  title: "The catalog",
  description: `Materials, crabs and pixels in numbered editions, ${priceHere} each. ${terms}`,
  path: "/v2/catalog",
  chapter: "catalog",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>The catalog</h1>
      <p class="lead">
        Materials, crabs and pixels in numbered editions, ${priceHere} each: small things to keep under your name, or to
        leave on an altar for good.
      </p>
      ${view.payment.enabled ? "" : notConfigured(view.payment)}
      <nav class="contents" aria-label="Catalogs">
        ${view.shelves.map(({ id, title, items }) => html`<a href="#${id}">${title} <small>${items.length}</small></a>`)}
      </nav>
    </header>
    ${view.shelves.map(
      (shelf) =>
        html`<section id="${shelf.id}" aria-labelledby="${shelf.id}-title">
          ${heading(`${shelf.id}-title`, shelf.title, shelf.note)}
          <ul class="specimens" role="list">
            ${shelf.items.map((one) => item(one, view))}
          </ul>
        </section>`,
    )}
    <section aria-labelledby="terms-title">
      ${heading("terms-title", "What an edition is")}
      <p class="column">${terms}</p>
      ${view.payment.enabled ? html`${collectCall(view)}${glossary("wallet", "receipt")}${altars}` : ""}
      <p><a href="${readPublicationChain.path}">The publication chain as JSON, for programs</a></p>
    </section>`,
})
