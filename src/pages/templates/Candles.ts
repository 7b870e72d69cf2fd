/** The candle wall: every lit candle, newest first, with its dedication as text and its time left in words. */
import type { CandleList } from "../../../schema/altar/Candle.ts"
import * as Candle from "./Candle.ts"
import { html } from "../../platform/Html.ts"
import { leaf, type Page } from "./Layout.ts"
import { nameOf, plates, previewOf, spiritLink, spiritPath } from "./Plates.ts"
import { count } from "./Words.ts"

export interface CandlesView {
  readonly wall: typeof CandleList.Type
  readonly spirit: string | undefined
  /** A page after the first. */
  readonly before: string | undefined
  readonly now: number
}

const query = (spirit: string | undefined, before: string | undefined) => {
  const search = new URLSearchParams({
    ...(spirit === undefined ? {} : { spirit }),
    ...(before === undefined ? {} : { before }),
  }).toString()
  return search === "" ? "/v2/candles" : `/v2/candles?${search}`
}

export const candles = ({ before, now, spirit, wall }: CandlesView): Page => {
  const where = spirit === undefined ? "" : ` with ${nameOf(spirit)}`
  const lit = `${wall.lit === 0 ? "No candles" : count(wall.lit, "candle")} lit${where}`
  return {
    title: spirit === undefined ? "The candle wall" : `Candles with ${nameOf(spirit)}`,
    description: `${lit}. A candle burns for one, seven or thirty days, and its dedication is public.`,
    path: query(spirit, before),
    chapter: "candles",
    preview: previewOf(spirit ?? "guide"),
    body: html`<header class="opening" data-renew="opening" data-live="/api/altars">
        <h1>The candle wall</h1>
        <p class="lead">
          ${lit}. Each burns for one, seven or thirty days and is drawn as tall as its time left. A candle buys days on
          this wall, never a better prayer.
        </p>
        <form class="filter" action="/v2/candles" method="get">
          <label for="spirit">Altar</label>
          <select class="field" id="spirit" name="spirit" required>
            <option value="">All altars</option>
            ${plates.map(({ id, name }) => html`<option value="${id}" ${id === spirit ? html` selected` : ""}>${name}</option>`)}
          </select>
          <button class="button">Show</button>${spirit === undefined ? "" : html` <a href="/v2/candles">All altars</a>`}
        </form>
      </header>
      ${
        wall.candles.length === 0
          ? html`<div class="blank blank--wall" data-renew="wall">
              <p>${before === undefined ? "The shelf is empty." : "No more candles."}</p>
              <p class="quiet">
                ${spirit === undefined ? html`Choose a <a href="/v2/#plates">plate of the guide</a> and light the first one.` : html`Light the first one <a href="${spiritPath(spirit)}#candles">on the altar of ${nameOf(spirit)}</a>.`}
              </p>
            </div>`
          : html`<ul class="shelf shelf--wall" role="list" data-renew="wall">
              ${wall.candles.map((candle) => Candle.litCandle(candle, now, spiritLink(candle.spirit)))}
            </ul>`
      }
      ${leaf(
        "More candles",
        before === undefined ? undefined : html`<a href="${query(spirit, undefined)}">The newest candles</a>`,
        wall.next === null
          ? undefined
          : html`<a rel="next" href="${query(spirit, wall.next)}">Candles lit before these</a>`,
      )}
      <p class="unscripted quiet small">The drawings stand as they were when this page was loaded.</p>`,
  }
}
