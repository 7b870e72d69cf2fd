/** Settled acts as plain sentences: the buyer, the deed and the place. */
import { Effect, Schema } from "effect"
import { Act } from "../../../schema/altar/ActApi.ts"
import { ActTexts } from "../../altar/Acts.ts"
import type { ActText, RecordTexts } from "../../altar/ActText.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import { readable, rowReader } from "../../platform/Rows.ts"
import { pebble } from "./Pebble.ts"
import { illustration, nameOf, plateOf } from "./Plates.ts"
import { listedWords } from "./Seal.ts"
import { ago, dayWords, isolated, short } from "./Words.ts"

/** A settled act with the text of its kind. */
export type SettledAct = typeof Act.Type & { readonly actText: ActText }

/** A record with the text of its kind. */
type Recorded = Pick<SettledAct, "actText" | "record">

/** The text of an act that is not sold here; its members keep their own names. */
const unknown: ActText = {
  sentence: () => "made an act",
  labels: {},
  hideable: { table: "acts", texts: {} },
}

const readAct = rowReader("acts", Schema.fromJsonString(Act))

/** Decodes acts from the JSON texts of the acts service; in a list, an unreadable one is logged and omitted. */
export const actReader = Effect.map(ActTexts, (actTexts) => {
  const actOf = (text: unknown): Effect.Effect<SettledAct> =>
    Effect.map(readAct(text), (act) => ({ ...act, actText: actTexts.get(act.act) ?? unknown }))
  return { actOf, actsOf: (texts: ReadonlyArray<string>) => readable(texts, actOf) }
})

/** A text or number of a record, as text; empty when it has none. */
export const recordText = (act: Pick<SettledAct, "record">, name: string): string => {
  const value = act.record[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

export const textsOf = (act: Recorded): RecordTexts =>
  Object.fromEntries(Object.keys(act.actText.labels).map((name) => [name, recordText(act, name)]))

/** A member in words, in the form that its label gives. */
export const inWords = (act: Recorded, name: string): string => {
  const label = act.actText.labels[name]
  const value = recordText(act, name)
  if (value === "" || typeof label !== "object" || label === null) return value
  const [, form] = label
  if (typeof form === "function") return form(textsOf(act))
  return form === "spirit" ? nameOf(value) : form === "time" ? dayWords(value) : value
}

const saidOf = (act: SettledAct): RecordTexts =>
  Object.fromEntries(Object.keys(act.actText.labels).map((name) => [name, inWords(act, name)]))

/** The public texts of an act in quotes; empty without any. */
export const quotedIn = (act: SettledAct): string =>
  Object.keys(act.actText.hideable.texts)
    .map((name) => recordText(act, name))
    .find((text) => text !== "") ?? ""

const subject = ({ agentName }: SettledAct) => agentName ?? "A visitor"

const predicate = (act: SettledAct) => act.actText.sentence(saidOf(act))

/** `Wren laid a prayer with Moss Hare`, without a full stop. */
export const sentence = (act: SettledAct): string => `${subject(act)} ${predicate(act)}`

/** The same sentence with the name isolated, for any direction of writing. */
export const sentenceHtml = (act: SettledAct): Html => html`${isolated(subject(act))} ${predicate(act)}`

const folders: Readonly<Record<string, readonly [folder: string, ending: string]>> = {
  material: ["elements", "svg"],
  crab: ["companions", "svg"],
  pixel: ["pixels", "png"],
}

export const itemImage = (act: Pick<SettledAct, "record">): string | undefined => {
  const place = folders[recordText(act, "kind")]
  const id = recordText(act, "elementId")
  return id === "" || place === undefined ? undefined : `/art/${place[0]}/${id}.${place[1]}`
}

/** A picture of the act, or of its spirit; decorative, since the sentence beside it says the same. */
const mark = (act: SettledAct): Value => {
  const stone = recordText(act, "commitment")
  if (stone !== "") return pebble(stone, "mark", "small")
  const image = itemImage(act)
  if (image !== undefined)
    return html`<img src="${image}" alt="" width="256" height="256" loading="lazy" decoding="async" />`
  const id = recordText(act, "spirit")
  return plateOf(id) && illustration(id, "", "lazy")
}

/** The public words of an act: revealed ones, which script checks, or its own texts. */
const wordsOf = (act: SettledAct): Html | undefined => {
  const { reveal } = act
  const commitment = recordText(act, "commitment") || recordText(act, "intentionCommitment")
  if (typeof reveal?.text === "string") return listedWords(commitment, reveal, ["", "revealed"])
  const words = quotedIn(act)
  return words === "" ? undefined : html`“${isolated(words)}”`
}

/** Path of an act's page below the public URL. */
export const pathOf = ({ permalink }: SettledAct) => `/${permalink.split("/").slice(-2).join("/")}`

/** Whether the act has a page of its own kind, as stones have. */
export const hasOwnPage = (act: SettledAct) => pathOf(act) !== `/acts/${act.id}`

/** Tells buyers without a name apart. */
const wallet = ({ agentName, receipt: { payer } }: SettledAct): Value =>
  agentName === null && payer !== null && html` <small class="quiet">${short(payer)}</small>`

/** The words of an act with its sentence below them, or the sentence alone. */
const entry = (act: SettledAct): Html => {
  const words = wordsOf(act)
  return words === undefined
    ? html`<a href="${pathOf(act)}">${sentenceHtml(act)}</a>${wallet(act)}`
    : html`<a class="journal__words" href="${pathOf(act)}">${words}</a>
        <small class="quiet">${sentenceHtml(act)}${wallet(act)}</small>`
}

/** The list of acts: the time in the margin, and beside it their words and sentences. */
export const journal = (acts: ReadonlyArray<SettledAct>, now: number): Html =>
  html`<ol class="journal rows" role="list">
    ${acts.map(
      (act) =>
        html`<li>
          ${ago(act.settledAt, now)}<span class="journal__mark">${mark(act)}</span><span>${entry(act)}</span
          ><span class="quiet price">${act.priceUsd}</span>
        </li>`,
    )}
  </ol>`
