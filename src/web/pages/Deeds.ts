/** Every settled act as one plain sentence: who did what, and where. */
import type { Act } from "../../../schema/altar/Act.ts"
import { type Html, html } from "./Html.ts"
import { nameOf } from "./Plates.ts"
import { agoWords } from "./Words.ts"

export type SettledAct = typeof Act.Type

/** The acts service hands out JSON texts that it wrote itself. */
export const actOf = (text: string): SettledAct => JSON.parse(text)

/** A text or number of a record, as text; empty when it has none. */
export const factOf = (act: SettledAct, name: string): string => {
  const value = act.record[name]
  return typeof value === "string" || typeof value === "number" ? String(value) : ""
}

const subject = ({ agentName, receipt: { payer } }: SettledAct) =>
  agentName ?? `${payer.slice(0, 6)}…${payer.slice(-4)}`

const spirit = (act: SettledAct) => nameOf(factOf(act, "spirit"))

const rungs: Readonly<Record<string, string>> = { day: "one day", week: "seven days", month: "thirty days" }

const candle = (act: SettledAct) => {
  const lasts = rungs[factOf(act, "rung")] ?? ""
  return factOf(act, "kind") === "light"
    ? `added a light for ${lasts} to a candle with ${spirit(act)}`
    : `lit a candle for ${lasts} with ${spirit(act)}`
}

const predicates: Readonly<Record<string, (act: SettledAct) => string>> = {
  offerPrayer: (act) => `laid a prayer with ${spirit(act)}`,
  takeIn: (act) => `became the first keeper of ${spirit(act)}`,
  collectMaterial: (act) =>
    `collected ${factOf(act, "name")}, number ${factOf(act, "edition")} of ${factOf(act, "editionSize")}${
      factOf(act, "spirit") === "" ? "" : `, for ${spirit(act)}`
    }`,
  lightDay: candle,
  lightWeek: candle,
  lightMonth: candle,
  setWitnessStone: (act) => `set witness stone ${factOf(act, "sequence")} with ${spirit(act)}`,
}

/** `Wren laid a prayer with Moss Hare`, without a full stop. */
export const sentence = (act: SettledAct): string =>
  `${subject(act)} ${(predicates[act.act] ?? (() => "made an act"))(act)}`

/** Where a reader finds an act. */
export const pathOf = (act: SettledAct) => `/${act.act === "setWitnessStone" ? "witness" : "acts"}/${act.id}`

/** Field notes: the time in the margin, the sentence beside it. */
export const journal = (acts: ReadonlyArray<SettledAct>, now: number): Html =>
  html`<ol class="journal" role="list">
    ${acts.map(
      (act) =>
        html`<li>
          <time datetime="${act.settledAt}" data-ago="${act.settledAt}"
            >${agoWords(now - Date.parse(act.settledAt))}</time
          ><a href="${pathOf(act)}">${sentence(act)}</a><span class="journal__price">${act.priceUsd}</span>
        </li>`,
    )}
  </ol>`
