/** The candle wall, and the form that lights a candle, on the wall or on an altar's page. */
import { candleActs, type CandleList, dedicationMaximum } from "../../../schema/altar/Candle.ts"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { rungs } from "../../altar/candles/CandleRow.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import * as Candle from "./Candle.ts"
import { hrefOf, opening, type Page, pager, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import {
  beside,
  nameField,
  notConfigured,
  type Offer,
  offer,
  type Payment,
  selectField,
  textField,
  wordsField,
} from "./Offer.ts"
import { nameOf, spiritLink, spiritOptions } from "./Plates.ts"
import { count, money } from "./Words.ts"

/** Placeholder in a path for the altar that is chosen in the form. */
const chosen = "spirit-id"

const durations = (spirit: string): Html =>
  html`<fieldset class="ask rungs">
    <legend>How long it burns</legend>
    ${Object.values(rungs).map(({ lasts, rung }) => {
      const { path, sale } = candleActs[rung]
      return html`<label
        ><input
          type="radio"
          name="rung"
          ${mark("rung", {
            path: filled(path, { familiarId: spirit }),
            amount: sale.priceAtomic,
            recorded: JSON.stringify(sale.recorded),
          })}
          ${rung === "day" ? html` checked` : ""}
        /><span>${lasts}, ${money(priceUsd(sale.priceAtomic).replace(".00", ""))}</span></label
      >`
    })}
  </fieldset>`

/** `spirit` is the altar, or on the wall the initial choice. */
const candleOffer = (spirit: string | undefined, onWall: boolean): Offer => {
  const altar = onWall ? chosen : (spirit ?? chosen)
  return {
    id: "candle",
    verb: "Light the candle",
    title: spirit === undefined || onWall ? "Candle" : `Candle with ${nameOf(spirit)}`,
    path: filled(candleActs.day.path, { familiarId: altar }),
    sale: candleActs.day.sale,
    fields: html`${onWall ? selectField(["candle-spirit", "With which spirit", mark("place", { place: chosen }), html`required`], spiritOptions("choose a spirit", spirit)) : ""}${durations(altar)}${textField(["candle-dedication", "Dedication", mark("body", { body: "dedication" }), html`maxlength="${dedicationMaximum}" required`], `Public, 1 to ${dedicationMaximum} characters. No links, addresses or wallets.`)}${nameField("candle-name")}${wordsField(["candle-words", "Sealed words, if you like", mark("seal", { seal: "intentionCommitment" }), html`maxlength="8192"`], "They stay in this browser until you unseal them.")}`,
  }
}

/** The candle that a spirit's own page sells. */
export const candleOf = (spirit: string) => candleOffer(spirit, false)

/** A light of a candle, on the page of the candle. */
export const lightOf = (spirit: string, parentId: string): Offer => ({
  id: "light",
  verb: "Add the light",
  title: `Light with ${nameOf(spirit)}`,
  path: filled(candleActs.day.path, { familiarId: spirit }),
  sale: candleActs.day.sale,
  fields: html`<input
      type="hidden"
      ${mark("body", { body: "parentId" })}
      value="${parentId}"
    />${durations(spirit)}${nameField("light-name")}`,
})

export interface CandlesView {
  readonly wall: typeof CandleList.Type
  readonly spirit: string | undefined
  /** Set on pages after the first. */
  readonly before: string | undefined
  readonly payment: Payment
  readonly now: number
}

const filter = (spirit: string | undefined): Html =>
  html`<form class="filter" action="/v2/candles" method="get">
    <label for="spirit">Altar</label>
    <select class="field" id="spirit" name="spirit">
      ${spiritOptions("All altars", spirit)}
    </select>
    <button class="button">Show</button>
  </form>`

export const candles = (view: CandlesView): Page => {
  const { before, now, payment, spirit, wall } = view
  const where = spirit === undefined ? "" : ` with ${nameOf(spirit)}`
  const lit = `${wall.lit === 0 ? "No candles" : count(wall.lit, "candle")} lit${where}`
  const none =
    before === undefined
      ? html`No candles yet. <a href="#light">Light the first one</a>: it appears here at once.`
      : "No more candles."
  return {
    title: spirit === undefined ? "The candle wall" : `Candles with ${nameOf(spirit)}`,
    description: `${lit}. A candle burns for one, seven or thirty days, and its dedication is public.`,
    path: hrefOf("/v2/candles", { spirit, before }),
    chapter: "candles",
    preview: spirit ?? "guide",
    body: html`${opening(
        "The candle wall",
        html`${lit}. A candle remembers someone in public. It burns for one, seven or thirty days and is drawn as tall
        as its time left.`,
        payment.enabled && html`<p class="doors"><a class="button button--main" href="#light">Light a candle</a></p>`,
      )}
      <section class="wall" id="wall" aria-label="The candles" ${mark("renewed")}>
        ${filter(spirit)}
        ${Candle.shelf(
          wall.candles.length === 0
            ? [html`<li class="votive votive--none"><p class="dedication">${none}</p></li>`]
            : wall.candles.map((candle) => Candle.litCandle(candle, now, spiritLink(candle.spirit))),
          "shelf--wall",
        )}
        ${pager("candles", { path: "/v2/candles", query: { spirit }, before, next: wall.next })}
      </section>
      ${section(
        "light",
        "Light a candle",
        "For a day, a week or a month.",
        payment.enabled
          ? beside(
              offer(payment, candleOffer(spirit, true)),
              "A candle carries a few public words for someone or something. They stay on this wall until it has burned down. Its page and its receipt stay for ever.",
              "The price buys days of light and nothing else. No candle makes a prayer better.",
            )
          : notConfigured(payment),
      )}`,
  }
}
