/** The page of one settled act: its sentence, its record, and the receipt that proves its payment. */
import { readAct } from "../../../schema/altar/ActApi.ts"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { unsealCandle } from "../../../schema/altar/Candle.ts"
import * as Candle from "./Candle.ts"
import { nameOf, plateOf, previewOf, spiritLink, illustration, spiritPath } from "./Plates.ts"
import {
  hasOwnPage,
  inWords,
  itemImage,
  pathOf,
  quotedIn,
  recordText,
  sentence,
  sentenceHtml,
  type SettledAct,
} from "./ActList.ts"
import { code, evidence, type Row, recordTable, receiptTable } from "./RecordTable.ts"
import { type Html, html } from "../../platform/Html.ts"
import { filled } from "../../payments/Act.ts"
import { heading, type Page } from "./Layout.ts"
import { checkForm, revealedWords, revealForm } from "./Seal.ts"
import { shareRow } from "./ShareRow.ts"
import { localMoment, money, short, timeWords } from "./Words.ts"

const figure = (picture: Html, ...caption: ReadonlyArray<Html>): Html =>
  html`<figure class="plate">
    ${picture}${caption.length === 0 ? "" : html`<figcaption>${caption}</figcaption>`}
  </figure>`

/** The picture of the bought item, or of the act's spirit. */
const picture = (act: SettledAct, now: number): { readonly plate: Html; readonly preview: string } => {
  const [spirit, name] = [recordText(act, "spirit"), recordText(act, "name")]
  const candle = Candle.burning(act.record)
  if (candle !== undefined) {
    const beside = illustration(spirit, nameOf(spirit), "eager")
    return { plate: Candle.portrait(candle, beside, now), preview: previewOf(spirit) }
  }
  const image = itemImage(act)
  if (image !== undefined) {
    const number = html`<span class="plate__number"
      >No. ${recordText(act, "edition")} of ${recordText(act, "editionSize")}</span
    > `
    return {
      plate: figure(
        html`<img src="${image}" alt="${name}" width="256" height="256" />`,
        number,
        html`<span class="plate__name">${name}</span>`,
      ),
      preview: previewOf("guide"),
    }
  }
  const plate = plateOf(spirit)
  if (plate === undefined) return { plate: html``, preview: previewOf("guide") }
  const drawn = html`<a href="${spiritPath(plate.id)}">${illustration(plate.id, plate.name, "eager")}</a>`
  return { plate: figure(drawn), preview: previewOf(plate.id) }
}

/** The entry of the publication chain that binds a wallet to an edition. */
const published = (act: SettledAct): ReadonlyArray<Row> => {
  const entry = act.record["publication"]
  if (typeof entry !== "object" || entry === null) return []
  const [sequence, hash] = [Reflect.get(entry, "sequence"), Reflect.get(entry, "chainHash")]
  return [
    [
      "Publication",
      html`Entry ${String(sequence)} of the <a href="/api/publish-chain">publication chain (JSON, for programs)</a
        ><br />
        ${code(String(hash))}`,
    ],
  ]
}

/** A member of a record as a row; empty where the page shows it elsewhere. */
const rowOf = (act: SettledAct, name: string): ReadonlyArray<Row> => {
  const value = recordText(act, name)
  const label = act.actText.labels[name] ?? (name in act.actText.labels ? null : name)
  if (value === "" || label === null) return []
  if (typeof label === "string") return [[label, value.length > 30 ? code(value) : value]]
  const [title, form] = label
  if (form === "time") return [[title, localMoment(value)]]
  if (form === "spirit") return [[title, spiritLink(value)]]
  if (form === "item") return [[title, html`<a href="/v2/catalog#${value}">${recordText(act, "name") || value}</a>`]]
  return [[title, inWords(act, name)]]
}

/** Whether it is a candle or light with sealed words; a prayer's stay sealed. */
const mayBeUnsealed = (act: SettledAct): boolean => recordText(act, "unsealUrl") !== ""

/** The checks of sealed words; the owner of a prayer's words can check them, too. */
const sealedWords = (act: SettledAct): Html => {
  const { reveal } = act
  const commitment = recordText(act, "intentionCommitment")
  if (commitment === "") return html``
  const shown = `/v2/candles?spirit=${recordText(act, "spirit")}`
  const unseals = mayBeUnsealed(act)
  const note = unseals ? "The candle carries them until they are unsealed." : "A prayer stays sealed."
  return html`<section id="check" aria-labelledby="check-title">
    ${heading("check-title", "Sealed words", reveal === null ? note : "Their owner unsealed them.")}
    <div class="column">
      ${checkForm(commitment)}${unseals && reveal === null ? revealForm({ url: filled(unsealCandle.path, { candleId: act.id }), name: "words", commitment, shown }) : ""}
    </div>
  </section>`
}

/** The words of a candle or light, once they are unsealed. */
const unsealed = (act: SettledAct): Html =>
  act.reveal === null
    ? html``
    : html`${revealedWords(recordText(act, "intentionCommitment"), act.reveal, "unsealed")}
        <p class="small quiet">Unsealed ${localMoment(act.reveal.revealedAt)}</p>`

const quoted = (act: SettledAct): Html => {
  const words = quotedIn(act)
  return words === "" ? html`` : html`<blockquote class="words"><p dir="auto">${words}</p></blockquote>`
}

/** The spirit's answer to the buyer, where its act has one. */
const answered = (act: SettledAct): Html => {
  const record = Object.fromEntries(Object.keys(act.record).map((name) => [name, recordText(act, name)]))
  const line = act.actText.answer?.(record) ?? ""
  return line === ""
    ? html``
    : html`<blockquote class="words"><p>${line}</p></blockquote>
        <p class="quiet">${nameOf(recordText(act, "spirit"))} answered.</p>`
}

/** Whether this server serves its receipt file: the receipt hashes the texts that an operator may have hidden. */
const hasReceiptFile = ({ receipt, record }: SettledAct): boolean =>
  receipt.payer !== null && !Object.values(record).includes(hiddenByOperator)

/** The id of a light's candle; empty for all other acts. */
export const candleIdOf = (act: SettledAct): string => recordText(act, "parentId")

/** A light quotes and links its candle, and a burning candle links its place among its lights. */
const candleOf = (act: SettledAct, candle: SettledAct | undefined, now: number): Html => {
  const parent = candleIdOf(act)
  if (parent !== "")
    return html`${candle === undefined ? "" : html`<p>The candle says: <q dir="auto">${quotedIn(candle)}</q></p>`}
      <p><a class="button" href="/acts/${parent}">See the candle of this light</a></p>`
  return Date.parse(recordText(act, "litUntil")) > now
    ? html`<p>
        <a class="button" href="/v2/candles?spirit=${recordText(act, "spirit")}#candle-${act.id}"
          >See it among its lights</a
        >
      </p>`
    : html``
}

const paidBy = ({ priceUsd, receipt: { payer } }: SettledAct): Html =>
  html`<p class="small quiet">
    Paid ${money(priceUsd)} by
    ${payer === null ? "card" : html`wallet <a href="/v2/wallets/${payer}">${short(payer)}</a>`}.
  </p>`

/** `candle` is that of a light, where it could be read. */
export const act = (one: SettledAct, now: number, isSigning = false, candle?: SettledAct): Page => {
  const { plate, preview } = picture(one, now)
  const words = quotedIn(one)
  return {
    title: sentence(one),
    description: `${words === "" ? "" : `“${words}” `}${timeWords(one.settledAt)}, ${one.priceUsd}, with a receipt${one.receipt.payer === null ? "" : " anyone can check"}.`,
    path: `/acts/${one.id}`,
    chapter: "none",
    preview,
    body: html`<article class="folio">
        <div class="folio__plate">${plate}</div>
        <div class="text">
          <p class="text__over">${localMoment(one.settledAt)}</p>
          <h1 class="text__sentence">${sentenceHtml(one)}</h1>
          ${answered(one)}${quoted(one)}${unsealed(one)}${candleOf(one, candle, now)}${hasOwnPage(one) ? html`<p><a class="button" href="${pathOf(one)}">Open the stone and check its link</a></p>` : ""}
          ${paidBy(one)} ${shareRow(one.permalink)}
        </div>
      </article>
      ${sealedWords(one)}
      ${evidence(
        one.receipt,
        "record and receipt",
        html`<div class="pair">
          <section aria-labelledby="record-title">
            ${heading("record-title", "Record")}${recordTable([...Object.keys(one.record).flatMap((name) => rowOf(one, name)), ...published(one)])}
          </section>
          <section aria-labelledby="receipt-title">
            ${heading("receipt-title", "Receipt")}${receiptTable(one.receipt)}
          </section>
        </div>`,
      )}
      <nav class="leaf" aria-label="More">
        <a href="/v2/acts">All acts</a
        ><a href="${filled(readAct.path, { actId: one.id })}">This act as JSON, for programs</a
        >${isSigning && hasReceiptFile(one) ? html`<a href="${pathOf(one)}.receipt.json" download="act-${one.id}.receipt.json">Its receipt file</a><a href="/verify">Check it</a>` : ""}
      </nav>`,
  }
}
