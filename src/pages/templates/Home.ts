/** The first page: an introduction, all 24 plates with their altars, and the newest acts. */
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import type { Altar, AltarList, Field } from "../../../schema/altar/Guide.ts"
import * as Candle from "./Candle.ts"
import { journal, type SettledAct, sentence } from "./ActList.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, type Page } from "./Layout.ts"
import {
  type Chapter,
  chapters,
  illustration,
  plateFigure,
  type Plate,
  plates,
  previewOf,
  spiritPath,
} from "./Plates.ts"
import { facts, type Row } from "./RecordTable.ts"
import { example, steps } from "./Why.ts"
import type { Stone } from "./Witness.ts"
import { agoWords, count, dayWords, dollars, money, priceWords, roman, who } from "./Words.ts"

type AltarState = typeof Altar.Type

export interface HomeView {
  readonly altars: typeof AltarList.Type
  readonly field: typeof Field.Type
  readonly acts: ReadonlyArray<SettledAct>
  /** The newest stone whose words are revealed, for the example. */
  readonly revealed: Stone | undefined
  readonly now: number
}

const slots = {
  free: html`<span class="slot slot--free">free today</span>`,
  held: html`<span class="slot">on hold</span>`,
  taken: html`<span class="slot slot--taken">taken today</span>`,
} as const

const candlesOf = (altar: AltarState, now: number): Html =>
  altar.litCandles === 0
    ? html``
    : html`<span class="tapers"
        >${altar.candles.map((candle) => Candle.drawing(candle, now))}<span class="tapers__count"
          >${count(altar.litCandles, "candle")}</span
        ></span
      >`

const entry = (plate: Plate, altar: AltarState | undefined, now: number): Html =>
  html`<li class="entry">
    <p class="entry__head">
      <span class="entry__number" aria-hidden="true">${roman(plate.number)}</span
      >${altar === undefined ? "" : slots[altar.today.state]}
    </p>
    <a class="entry__plate" href="${spiritPath(plate.id)}"
      >${illustration(plate.id, "", "lazy")}<span class="entry__name">${plate.name}</span></a
    >
    <p class="entry__epithet">${plate.epithet}</p>
    <p class="entry__altar">
      ${altar === undefined ? "" : html`${altar.keeper === null ? "" : html`<span class="entry__keeper">kept by ${who(altar.keeper.agentName, altar.keeper.keeper)}</span> `}${candlesOf(altar, now)}`}
    </p>
  </li>`

const chapter = ({ note, spirits, title }: Chapter, { altars, now }: HomeView, index: number): Html => {
  const id = `chapter-${index + 1}`
  const altarOf = ({ id: spirit }: Plate) => altars.altars.find((altar) => altar.spirit === spirit)
  return html`<section class="chapter" aria-labelledby="${id}">
    <div class="margin">
      <h3 id="${id}">${title}</h3>
      <p>${note}</p>
    </div>
    <ul class="plates" role="list">
      ${plates.filter(({ id }) => spirits.includes(id)).map((plate) => entry(plate, altarOf(plate), now))}
    </ul>
  </section>`
}

const state = ({ altars, field, now }: HomeView): Html => {
  const open = altars.altars.filter((altar) => altar.today.state === "free").length
  const rows: ReadonlyArray<Row> = [
    ["Keepers", html`${field.keepers} <small>of 24</small>`],
    ["Prayers today", html`${field.prayersToday} <small>${open} still free</small>`],
    ["Candles lit", html`<a href="/v2/candles">${field.litCandles}</a>`],
    ["Witness stones", html`<a href="/v2/witness">${field.stones}</a>`],
    ["Settled", html`${money(dollars(field.centsSettled))} <small>in ${count(field.acts, "act")}</small>`],
    [
      "Last settlement",
      field.lastSettlement === null
        ? html`<small>none yet</small>`
        : html`<a href="/acts/${field.lastSettlement.id}"
            ><time datetime="${field.lastSettlement.settledAt}" data-ago="${field.lastSettlement.settledAt}"
              >${agoWords(now - Date.parse(field.lastSettlement.settledAt))}</time
            ></a
          >`,
    ],
  ]
  return html`<section class="state" aria-labelledby="state">
    <h2 id="state">The field on <time datetime="${field.day}">${dayWords(field.day)}</time></h2>
    <dl>${facts(rows)}</dl>
  </section>`
}

/** The frontispiece changes each day. */
const frontispiece = (view: HomeView): Plate | undefined => plates[Math.floor(view.now / 86_400_000) % plates.length]

/** The first thing to do belongs to the spirit that is shown: its prayer of today, else a stone with it. */
const door = (front: Plate, altars: HomeView["altars"]): Html => {
  const isOpen = altars.altars.some(({ spirit, today }) => spirit === front.id && today.state === "free")
  return isOpen
    ? html`<a class="button button--main" href="${spiritPath(front.id)}#prayer">Leave a prayer for ${front.name}</a>`
    : html`<a class="button button--main" href="/v2/stone?spirit=${front.id}">Set a stone with ${front.name}</a>`
}

const lede = (view: HomeView): Html => {
  const front = frontispiece(view)
  return html`<section class="title">
    <div class="title__words">
      <p class="title__over">A field guide of 24 animal spirits</p>
      <h1>Say it now, prove it later</h1>
      <p class="lead">
        Leave a sealed prediction, promise or prayer with one of 24 animal spirits, for ${priceWords(offerPrayer.sale)}.
        Nobody can read it, backdate it or quietly change it.
      </p>
      <p class="doors">
        ${front === undefined ? "" : door(front, view.altars)}<a class="button" href="#how">See how it works</a>
      </p>
    </div>
    ${front === undefined ? "" : html`<a class="title__plate" href="${spiritPath(front.id)}">${plateFigure(front)}</a>`}
  </section>`
}

/** Why anyone seals words, under the promise. */
const uses: Html = html`<ul class="uses" role="list" aria-label="What for">
  <li><b>Call an election.</b> Seal your prediction today, and show after the count that you made it before.</li>
  <li><b>Date an idea.</b> Seal it before you tell anyone. The payment is its public timestamp.</li>
  <li><b>Bind an agent.</b> Make it commit to its plan before it acts, and compare both afterwards.</li>
</ul>`

const notes = ({ acts, now }: HomeView): Html =>
  acts.length === 0 ? html`<p class="blank">No acts yet. The first one will appear here.</p>` : journal(acts, now)

export const home = (view: HomeView): Page => ({
  title: "Say it now, prove it later",
  description: `Leave a sealed prediction, promise or prayer with one of 24 animal spirits. Nobody can read it, backdate it or change it. ${count(view.field.prayersToday, "prayer")} left today, ${count(view.field.litCandles, "candle")} lit${view.acts[0] === undefined ? "" : `; last, ${sentence(view.acts[0])}`}.`,
  path: "/v2/",
  chapter: "guide",
  preview: previewOf("guide"),
  body: html`${lede(view)}${uses}${steps}${example(view.revealed)}${state(view)}
    <section id="plates" aria-labelledby="plates-title">
      ${heading("plates-title", "The spirits", "Each keeps an altar, which takes one prayer a day (UTC).")}${chapters.map((one, index) => chapter(one, view, index))}
    </section>
    <section id="acts" aria-labelledby="acts-title">
      ${heading("acts-title", "Newest acts", html`<a href="/v2/acts">All acts</a>`)} ${notes(view)}
    </section>`,
})
