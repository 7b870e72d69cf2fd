/** The first page: a promise with an example to try, all 24 plates with their altars, and the newest acts. */
import type { Altar, AltarList } from "../../../schema/altar/Guide.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { seal } from "../../altar/Hashes.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import { journal, type SettledAct } from "./ActList.ts"
import * as Candle from "./Candle.ts"
import { blank, fold, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { wordsField } from "./Offer.ts"
import { figure } from "./Pebble.ts"
import { type Chapter, chapters, illustration, type Plate, spiritPath } from "./Plates.ts"
import { code, facts } from "./RecordTable.ts"
import { steps } from "./Steps.ts"
import { count, price, priceWords, roman, who } from "./Words.ts"

type AltarState = typeof Altar.Type

export interface HomeView {
  readonly altars: typeof AltarList.Type
  readonly acts: ReadonlyArray<SettledAct>
  readonly now: number
}

const slots = {
  free: html`<span class="slot slot--free">free today</span>`,
  held: html`<span class="slot">on hold</span>`,
  taken: html`<span class="slot slot--taken">taken today</span>`,
} as const

const candlesOf = (altar: AltarState, now: number): Value =>
  altar.litCandles > 0 &&
  html`<p class="tapers">
    ${altar.candles.map((candle) => Candle.drawing(candle, now))}<span class="quiet"
      >${count(altar.litCandles, "candle")}</span
    >
  </p>`

const entry = (plate: Plate, altar: AltarState | undefined, now: number): Html => {
  const keeper = altar?.keeper
  return html`<li class="entry">
    <p class="entry__head">
      <span class="quiet" aria-hidden="true">${roman(plate.number)}</span>${altar && slots[altar.today.state]}
    </p>
    <a href="${spiritPath(plate.id)}">${illustration(plate.id, "", "lazy")}<b>${plate.name}</b></a>
    <p class="mark">${plate.epithet}</p>
    ${keeper && html`<p class="entry__keeper quiet">kept by ${who(keeper.agentName, keeper.keeper)}</p>`}
    ${altar && candlesOf(altar, now)}
  </li>`
}

const chapter = ({ note, plates, title }: Chapter, { altars, now }: HomeView, index: number): Html => {
  const id = `chapter-${index + 1}`
  const altarOf = ({ id: spirit }: Plate) => altars.altars.find((altar) => altar.spirit === spirit)
  return html`<section class="chapter" aria-labelledby="${id}">
    <div class="chapter__head">
      <h3 id="${id}">${title}</h3>
      <p class="small quiet">${note}</p>
    </div>
    <ul class="plates" role="list">
      ${plates.map((plate) => entry(plate, altarOf(plate), now))}
    </ul>
  </section>`
}

/** Why anyone seals words. */
const uses: Html = html`<ul class="thirds" role="list" aria-label="What for">
  <li><b>Predict an election.</b> Seal your prediction today, and show after the count that you made it before.</li>
  <li><b>Date an idea.</b> Seal it before you tell anyone. The payment is its public timestamp.</li>
  <li><b>Bind an agent.</b> Make it commit to its plan before it acts, and compare the two afterwards.</li>
</ul>`

const words = "The heron will return by May."
const salt = "5f0c9a1be27d4438"
const commitment = seal(salt, words)

/** A stone with its words to change; script computes fingerprint and drawing of what stands in the field. */
const example = html`<section class="example" aria-labelledby="example-title">
  <figure class="drawn" ${mark("drawn")}>${figure(commitment, "drawn")}</figure>
  <form ${mark("example", { example: commitment, saltShown: encodeURIComponent(salt) })} autocomplete="off">
    <h2 class="unseen" id="example-title">The words of this stone</h2>
    ${wordsField(["example-words", "Change a letter, and it is another stone", mark("words"), html`dir="auto"`], "", words)}
    <div class="reserved scripted" ${mark("verdictShown")} role="status"></div>
    ${fold(
      "How the browser knows",
      facts([
        ["Salt", code(salt)],
        ["Recorded", code(commitment)],
        ["Computed", html`<code class="long" ${mark("computed")}>${commitment}</code>`],
      ]),
    )}
  </form>
</section>`

const lede: Html = html`<section class="title">
  <div>
    <p class="text__over">A field guide of 24 animal spirits</p>
    <h1>Say it now, prove it later</h1>
    <p class="lead">
      Seal your words for ${priceWords(setWitnessStone.sale, offerPrayer.sale)}. Only a stone is published: their
      fingerprint, with a date. Nobody can read it, backdate it or change it.
    </p>
    <p class="doors">
      <a class="button button--main" href="/v2/stone"
        ><span>Set a stone for ${price(setWitnessStone.sale.priceAtomic)}</span></a
      >
      <a class="button" href="#plates">Choose a spirit</a>
    </p>
  </div>
  ${example}
</section>`

export const home = (view: HomeView): Page => ({
  title: "Say it now, prove it later",
  description:
    "Leave a sealed prediction, promise or prayer with one of 24 animal spirits. Nobody can read it, backdate it or change it.",
  path: "/v2/",
  chapter: "guide",
  body: html`${lede}${uses}${steps}
  ${section(
    "plates",
    "The spirits",
    "Each keeps an altar, which takes one prayer a day (UTC).",
    ...chapters.map((plate, index) => chapter(plate, view, index)),
  )}
  ${section(
    "acts",
    "Newest acts",
    html`<a href="/v2/acts">All acts</a>`,
    view.acts.length === 0
      ? blank(html`No acts yet. <a href="/v2/stone">Set the first stone</a>, and it appears here.`)
      : journal(view.acts, view.now),
  )}`,
})
