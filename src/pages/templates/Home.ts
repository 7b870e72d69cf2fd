/** The first page: an introduction, all 24 plates with their altars, and the newest acts. */
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import type { Altar, AltarList, Field } from "../../../schema/altar/Guide.ts"
import * as About from "../sharing/StructuredData.ts"
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
import { agoWords, count, dayWords, dollars, priceWords, roman, who } from "./Words.ts"

type AltarState = typeof Altar.Type

export interface HomeView {
  readonly altars: typeof AltarList.Type
  readonly field: typeof Field.Type
  readonly acts: ReadonlyArray<SettledAct>
  readonly now: number
}

const slots = {
  free: html`<span class="slot slot--free">prayer open</span>`,
  held: html`<span class="slot">prayer held</span>`,
  taken: html`<span class="slot slot--taken">prayer laid</span>`,
} as const

const candlesOf = (altar: AltarState, now: number): Html =>
  altar.litCandles === 0
    ? html`<span class="unseen">no candle lit</span>`
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
      ${altar === undefined ? "" : html`<span class="entry__keeper">${altar.keeper === null ? "no keeper yet" : html`kept by ${who(altar.keeper.agentName, altar.keeper.keeper)}`}</span> ${candlesOf(altar, now)}`}
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
    ["Prayers today", html`${field.prayersToday} <small>${open} still open</small>`],
    ["Candles lit", html`<a href="/v2/candles">${field.litCandles}</a>`],
    ["Witness stones", html`<a href="/v2/witness">${field.stones}</a>`],
    ["Settled", html`${dollars(field.centsSettled)} <small>in ${count(field.acts, "act")}</small>`],
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
  return html`<section class="state" data-renew="state" data-live="/api/field /api/altars" aria-labelledby="state">
    <h2 id="state">The field on <time datetime="${field.day}">${dayWords(field.day)}</time></h2>
    <dl>${facts(rows)}</dl>
  </section>`
}

/** The frontispiece changes each day. */
const frontispiece = (view: HomeView): Plate | undefined => plates[Math.floor(view.now / 86_400_000) % plates.length]

const lede = (view: HomeView): Html => {
  const front = frontispiece(view)
  const open = view.altars.altars.find((altar) => altar.today.state === "free")
  return html`<section class="title" data-renew="title">
    <div class="title__words">
      <p class="title__over">A field guide, with living altars</p>
      <h1>Twenty-four spirits, and what people leave with them</h1>
      <p class="lead">
        Each spirit in this guide keeps an altar. People and agents lay sealed prayers there, light candles and set
        stones as witnesses. A prayer costs ${priceWords(offerPrayer.sale)}, for everyone, always. Every act is charged
        once and leaves a record anyone can check.
      </p>
      <p class="doors">
        ${open === undefined ? html`<a class="button button--main" href="/v2/candles">See the candles</a>` : html`<a class="button button--main" href="${spiritPath(open.spirit)}#prayer">Lay a prayer with ${open.name}</a>`}<a
          class="button"
          href="/v2/witness"
          >Check the witness chain</a
        >
      </p>
    </div>
    ${front === undefined ? "" : html`<a class="title__plate" href="${spiritPath(front.id)}">${plateFigure(front)}</a>`}
  </section>`
}

const notes = ({ acts, now }: HomeView): Html =>
  acts.length === 0
    ? html`<p class="blank">Nothing has been laid here yet. The first act will stand on this line.</p>`
    : journal(acts, now)

export const home = (view: HomeView): Page => ({
  title: "A field guide of 24 spirits",
  description: `24 illustrated animal spirits with living altars. ${count(view.field.prayersToday, "prayer")} laid today, ${count(view.field.litCandles, "candle")} lit${view.acts[0] === undefined ? "" : `; last, ${sentence(view.acts[0])}`}.`,
  path: "/v2/",
  chapter: "guide",
  preview: previewOf("guide"),
  about: About.home,
  body: html`${lede(view)}${state(view)}
    <section id="plates" data-renew="plates" aria-labelledby="plates-title">
      ${heading("plates-title", "The plates", "Prayer slots are for the UTC day; each altar takes one.")}${chapters.map((one, index) => chapter(one, view, index))}
    </section>
    <section id="acts" data-renew="acts" aria-labelledby="acts-title">
      ${heading("acts-title", "Field notes", html`The newest acts. <a href="/api/acts">All of them as JSON</a>`)}${notes(view)}
    </section>`,
})
