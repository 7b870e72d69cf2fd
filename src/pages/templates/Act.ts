/** The page of one settled act: its sentence, its record, and the receipt that proves its payment. */
import { readAct } from "../../../schema/altar/ActApi.ts"
import { unsealCandle } from "../../../schema/altar/Candle.ts"
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import { pictureOf, previewOf } from "../pictures/Card.ts"
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
  textsOf,
} from "./ActList.ts"
import * as Candle from "./Candle.ts"
import { lightOf } from "./Candles.ts"
import { fold, folio, more, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { offer, type Payment } from "./Offer.ts"
import { illustration, nameOf, plateOf, spiritLink, spiritPath } from "./Plates.ts"
import { code, evidence, facts, isUndone, receiptTable, type Row } from "./RecordTable.ts"
import { revealedWords, sealedPlace, wordsForm } from "./Seal.ts"
import { moment, money, short, timeWords } from "./Words.ts"

/** The picture of the bought item, or of the act's spirit. */
const picture = (act: SettledAct, now: number): Value => {
  const [spirit, name, image] = [recordText(act, "spirit"), recordText(act, "name"), itemImage(act)]
  const candle = Candle.burning(act.record)
  if (candle !== undefined) return Candle.portrait(candle, illustration(spirit, nameOf(spirit), "eager"), now)
  if (image !== undefined)
    return html`<figure class="plate">
      <img src="${image}" alt="${name}" width="256" height="256" />
      <figcaption>
        <span class="quiet">No. ${recordText(act, "edition")} of ${recordText(act, "editionSize")}.</span>
        <b>${name}</b>
      </figcaption>
    </figure>`
  return (
    plateOf(spirit) &&
    html`<a class="plate" href="${spiritPath(spirit)}">${illustration(spirit, nameOf(spirit), "eager")}</a>`
  )
}

/** A member of a record as a row; empty where the page shows it elsewhere. */
const rowOf = (act: SettledAct, name: string): ReadonlyArray<Row> => {
  const value = recordText(act, name)
  const label = act.actText.labels[name] ?? (name in act.actText.labels ? null : name)
  if (value === "" || label === null) return []
  if (typeof label === "string") return [[label, value.length > 30 ? code(value) : value]]
  const [title, form] = label
  if (form === "time") return [[title, moment(value)]]
  if (form === "spirit") return [[title, spiritLink(value)]]
  if (form === "item") return [[title, html`<a href="/v2/catalog#${value}">${recordText(act, "name") || value}</a>`]]
  return [[title, inWords(act, name)]]
}

/** The record, with the entry of the publication chain that binds a wallet to an edition. */
const rowsOf = (act: SettledAct): ReadonlyArray<Row> => {
  const { chainHash, sequence }: { readonly chainHash?: string; readonly sequence?: number } = Object(
    act.record["publication"],
  )
  const entry = html`Entry ${sequence} of the <a href="/api/publish-chain">publication chain</a>,
    ${code(chainHash ?? "")}`
  return [
    ...Object.keys(act.record).flatMap((name) => rowOf(act, name)),
    ...(chainHash === undefined ? [] : [["Publication", entry] as const]),
  ]
}

/** A prayer has no address that would unseal it. */
const isPrayer = (act: SettledAct) => recordText(act, "unsealUrl") === ""

const existedOn = ({ receipt, settledAt }: SettledAct) =>
  receipt.transaction !== null && receipt.finality === "lost" ? undefined : settledAt

/** The checks of sealed words; the owner of a prayer's words can check them, too, but a prayer stays sealed. */
const sealedWords = (act: SettledAct): Value => {
  const commitment = recordText(act, "intentionCommitment")
  const revealing = { url: filled(unsealCandle.path, { candleId: act.id }), name: "words" } as const
  const note = isPrayer(act) ? "A prayer stays sealed." : "The candle carries them until they are unsealed."
  return (
    commitment !== "" &&
    section(
      "check",
      "Sealed words",
      act.reveal === null ? note : "Their owner unsealed them.",
      wordsForm(commitment, existedOn(act), isPrayer(act) || act.reveal !== null ? undefined : revealing),
    )
  )
}

/** The words of a candle or light, once they are unsealed; those of their owner before. */
const unsealed = (act: SettledAct): Value => {
  const commitment = recordText(act, "intentionCommitment")
  if (act.reveal !== null)
    return html`${revealedWords(commitment, act.reveal, "unsealed", existedOn(act))}
      <p class="small quiet">Unsealed ${moment(act.reveal.revealedAt)}</p>`
  return commitment !== "" && sealedPlace(isPrayer(act) ? "The words stay sealed." : "It carries sealed words.")
}

const quote = (words: string): Value =>
  words !== "" && html`<blockquote class="words"><p dir="auto">${words}</p></blockquote>`

/** The spirit's answer to the buyer, where its act has one. */
const answerOf = (act: SettledAct) => act.actText.answer?.(textsOf(act))

export const answered = (act: SettledAct): Value => {
  const answer = answerOf(act)
  return (
    answer &&
    html`<p class="lead">${nameOf(recordText(act, "spirit"))} answered:</p>
      ${quote(answer)}`
  )
}

/** Whether this server serves its receipt file: the receipt hashes the texts that an operator may have hidden. */
const hasReceiptFile = ({ agentName, receipt, record }: SettledAct): boolean =>
  receipt.payer !== null && ![agentName, ...Object.values(record)].includes(hiddenByOperator)

const door = (path: string, words: string): Html => html`<a class="button" href="${path}">${words}</a>`

/** An edition links its item, a light its candle, a burning candle its place on the wall, and a stone its own page. */
const placeOf = (act: SettledAct, now: number): Value => {
  const [candle, item] = [recordText(act, "parentId"), recordText(act, "elementId")]
  if (item !== "") return door(`/v2/catalog#${item}`, "Collect one in the catalog")
  if (hasOwnPage(act)) return door(pathOf(act), "Open the stone and check its link")
  if (candle !== "") return door(`/acts/${candle}`, "See the candle of this light")
  return (
    Date.parse(recordText(act, "litUntil")) > now &&
    door(`/v2/candles?spirit=${recordText(act, "spirit")}#candle-${act.id}`, "See it on the candle wall")
  )
}

const paidBy = ({ priceUsd, receipt: { payer } }: SettledAct): Html =>
  html`<p class="small quiet">
    Paid ${money(priceUsd)} by
    ${payer === null ? "card" : html`wallet <a href="/v2/acts?q=${payer}">${short(payer)}</a>`}.
  </p>`

/** The address of a page to copy. */
export const shareRow = (address: string): Html =>
  html`<p class="share">
    <code id="share-address">${address}</code>
    <button class="button scripted" type="button" ${mark("copy", { copy: "share-address" })}>Copy link</button>
    <button class="button scripted" type="button" ${mark("print")}>Print</button>
  </p>`

/** The receipt file of an act, and the page that checks it. */
export const receiptLinks = (path: string, name: string): Html =>
  html`<a href="${path}.receipt.json" download="${name}.receipt.json">Its receipt file</a
    ><a href="/verify">Check a receipt</a>`

/** A burning candle takes lights on its own page. */
const lighting = (act: SettledAct, now: number, payment: Payment): Value =>
  recordText(act, "kind") === "candle" &&
  Date.parse(recordText(act, "litUntil")) > now &&
  payment.enabled &&
  section(
    "light",
    "Add a light",
    "It burns beside this candle on the wall.",
    fold("Add a light to this candle", offer(payment, lightOf(recordText(act, "spirit"), act.id))),
  )

export const act = (act: SettledAct, now: number, isSigning: boolean, payment: Payment): Page => {
  const words = quotedIn(act)
  const spirit = recordText(act, "spirit")
  const answer = answerOf(act)
  const quoted = answer === undefined ? words && `“${words}” ` : `${nameOf(spirit)} answered: “${answer}” `
  return {
    title: sentence(act),
    description: `${quoted}${timeWords(act.settledAt)}, ${act.priceUsd}, with a receipt${act.receipt.payer === null ? "" : " anyone can check"}.`,
    path: `/acts/${act.id}`,
    chapter: "acts",
    preview: previewOf(act),
    picture: !isUndone(act.receipt) && pictureOf(act.id, act),
    body: html`${folio(
      picture(act, now),
      html`<p class="text__over">${moment(act.settledAt)}</p>
        <h1>${sentenceHtml(act)}</h1>`,
      answered(act),
      quote(words),
      unsealed(act),
      html`<p class="doors">
        ${placeOf(act, now)}${plateOf(spirit) && door(spiritPath(spirit), `The altar of ${nameOf(spirit)}`)}
      </p>`,
      paidBy(act),
      shareRow(act.permalink),
    )}
    ${lighting(act, now, payment)} ${sealedWords(act)}
    ${evidence(
      isUndone(act.receipt),
      "record and receipt",
      html`<div class="pair">
        ${section("record", "Record", "", facts(rowsOf(act)))}
        ${section("receipt", "Receipt", "", receiptTable(act.receipt))}
      </div>`,
    )}
    ${more(
      "More",
      html`<a href="/v2/acts">All acts</a>`,
      html`<a href="${filled(readAct.path, { actId: act.id })}">This act as JSON, for programs</a>`,
      isSigning && hasReceiptFile(act) && receiptLinks(pathOf(act), `act-${act.id}`),
    )}`,
  }
}
