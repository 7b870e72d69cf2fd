/** Every settled act as one plain sentence: who did what, and where. */
import { Schema } from "effect"
import { Act } from "../../../schema/altar/ActApi.ts"
import { type Html, html } from "../../platform/Html.ts"
import { readable, rowReader } from "../../platform/Rows.ts"
import { pebble } from "./Pebble.ts"
import { illustration, nameOf, plateOf } from "./Plates.ts"
import { agoWords, isolated } from "./Words.ts"

export type SettledAct = typeof Act.Type

/** An act out of the JSON text that the acts service hands out. */
export const actOf = rowReader("acts", Schema.fromJsonString(Act))

/** The same for a list: what cannot be read is logged and left out. */
export const actsOf = (texts: ReadonlyArray<string>) => readable(texts, actOf)

/** A text or number of a record, as text; empty when it has none. */
export const recordText = (act: SettledAct, name: string): string => {
  const value = act.record[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

const subject = ({ agentName, receipt: { payer } }: SettledAct) =>
  agentName ?? (payer === null ? "Somebody" : `${payer.slice(0, 6)}…${payer.slice(-4)}`)

const spirit = (act: SettledAct) => nameOf(recordText(act, "spirit"))

/** How long a rung burns. */
export const rungs: Readonly<Record<string, string>> = { day: "one day", week: "seven days", month: "thirty days" }

const candle = (act: SettledAct) => {
  const lasts = rungs[recordText(act, "rung")] ?? ""
  return recordText(act, "kind") === "light"
    ? `added a light for ${lasts} to a candle with ${spirit(act)}`
    : `lit a candle for ${lasts} with ${spirit(act)}`
}

const predicates: Readonly<Record<string, (act: SettledAct) => string>> = {
  offerPrayer: (act) => `laid a prayer with ${spirit(act)}`,
  takeIn: (act) => `became the first keeper of ${spirit(act)}`,
  collectMaterial: (act) =>
    `collected ${recordText(act, "name")}, number ${recordText(act, "edition")} of ${recordText(act, "editionSize")}${
      recordText(act, "spirit") === "" ? "" : `, for ${spirit(act)}`
    }`,
  lightDay: candle,
  lightWeek: candle,
  lightMonth: candle,
  setWitnessStone: (act) => `set witness stone ${recordText(act, "sequence")} with ${spirit(act)}`,
}

/** `Wren laid a prayer with Moss Hare`, without a full stop. */
export const sentence = (act: SettledAct): string =>
  `${subject(act)} ${(predicates[act.act] ?? (() => "made an act"))(act)}`

/** The same with the name set apart, whichever way it is written. */
export const sentenceHtml = (act: SettledAct): Html =>
  html`${isolated(subject(act))} ${(predicates[act.act] ?? (() => "made an act"))(act)}`

const folders: Readonly<Record<string, readonly [folder: string, ending: string]>> = {
  material: ["elements", "svg"],
  crab: ["companions", "svg"],
  pixel: ["pixels", "png"],
}

/** Where the artwork of a collected item lies. */
export const itemImage = (act: SettledAct): string | undefined => {
  const place = folders[recordText(act, "kind")]
  const id = recordText(act, "elementId")
  return id === "" || place === undefined ? undefined : `/art/${place[0]}/${id}.${place[1]}`
}

/** A picture of what was left, or of the spirit it was left with; the sentence beside it says the same. */
const mark = (act: SettledAct): Html => {
  if (act.act === "setWitnessStone") return pebble(recordText(act, "commitment"), "mark", "small")
  const image = itemImage(act)
  if (image !== undefined)
    return html`<img src="${image}" alt="" width="256" height="256" loading="lazy" decoding="async" />`
  const id = recordText(act, "spirit")
  return plateOf(id) === undefined ? html`` : illustration(id, "", "lazy")
}

/** Where a reader finds an act. */
export const pathOf = (act: SettledAct) => `/${act.act === "setWitnessStone" ? "witness" : "acts"}/${act.id}`

/** What an act sealed; empty where it sealed nothing. */
export const commitmentIn = (act: SettledAct): string =>
  recordText(act, "commitment") || recordText(act, "intentionCommitment")

/** For whoever may hold the words; the page's script says whether this browser does. */
const sealed = (act: SettledAct): Html => {
  const commitment = commitmentIn(act)
  return commitment === ""
    ? html``
    : html` <small class="journal__sealed" data-sealed="${commitment}">with sealed words</small>`
}

/** Field notes: the time in the margin, the sentence beside it; `mine` tells which ones have sealed words. */
export const journal = (acts: ReadonlyArray<SettledAct>, now: number, mine = false): Html =>
  html`<ol class="journal" role="list">
    ${acts.map(
      (act) =>
        html`<li>
          <time datetime="${act.settledAt}" data-ago="${act.settledAt}"
            >${agoWords(now - Date.parse(act.settledAt))}</time
          ><span class="journal__mark">${mark(act)}</span
          ><span><a href="${pathOf(act)}">${sentenceHtml(act)}</a>${mine ? sealed(act) : ""}</span
          ><span class="journal__price">${act.priceUsd}</span>
        </li>`,
    )}
  </ol>`
