/** Drawings of candles, whose heights show their durations and the time left. */
import { Schema, Struct } from "effect"
import { LitCandle } from "../../../schema/altar/Candle.ts"
import { type Html, html } from "../../platform/Html.ts"
import { listedWords } from "./Seal.ts"
import { leftWords, moment, count, who } from "./Words.ts"

type Lit = typeof LitCandle.Type

/** Width and full height: longer candles are taller and stouter. */
const sizes = { day: [14, 54], week: [18, 76], month: [22, 100] } as const

type Burning = Pick<Lit, "rung" | "litAt" | "litUntil">

/** The drawing alone; the text is beside it. `lit` is a flame with its light around it. */
export const drawing = (candle: Burning, now: number, kind: "taper" | "lit" | "light" = "taper"): Html => {
  const [from, until] = [Date.parse(candle.litAt), Date.parse(candle.litUntil)]
  const remains = Math.min(1, Math.max(0, (until - now) / (until - from)))
  const [width, full] = sizes[candle.rung]
  // A stub stays until the end.
  const height = Math.round((8 + (full - 8) * remains) * 100) / 100
  const top = 130 - height
  return html`<svg
    class="candle${kind === "light" ? " candle--light" : ""}${remains === 0 ? " candle--out" : ""}"
    viewBox="0 0 40 132"
    width="40"
    height="132"
    aria-hidden="true"
    focusable="false"
  >
    <rect class="wax" x="${20 - width / 2}" y="${top}" width="${width}" height="${height}" rx="3" />
    <ellipse class="pool" cx="20" cy="${top + 2}" rx="${width / 2 - 1}" ry="3" />
    <g class="flame" transform="translate(20 ${top})">
      ${kind === "taper" ? "" : html`<circle class="glow" cy="-10" r="${kind === "lit" ? 64 : 40}" />`}
      <path class="wick" d="M0 2V-5" />
      <path class="fire" d="M0-24c6 8 7 12 7 15a7 7 0 0 1-14 0c0-3 1-7 7-15z" />
      <path class="heart" d="M0-14c3 4 3.400 6 3.400 7.600a3.400 3.400 0 0 1-6.800 0c0-1.600.4-3.600 3.400-7.600z" />
    </g>
  </svg>`
}

/** The light around a flame, defined once for all flames of a page. */
const light = html`<svg class="lightbox" width="0" height="0" aria-hidden="true" focusable="false">
  <radialGradient id="glow">
    <stop offset="0" />
    <stop offset="1" stop-opacity="0" />
  </radialGradient>
</svg>`

export const shelf = (candles: ReadonlyArray<Html>, kind = ""): Html =>
  html`${light}
    <ul class="shelf ${kind}" role="list">
      ${candles}
    </ul>`

const isBurning = Schema.is(LitCandle.mapFields(Struct.pick(["rung", "litAt", "litUntil"])))

/** The candle or light in a record; undefined for other acts. */
export const burning = (record: object): Burning | undefined => (isBurning(record) ? record : undefined)

export const portrait = (candle: Burning, beside: Html, now: number): Html => {
  const remains = Date.parse(candle.litUntil) - now
  return html`<figure class="plate">
    ${light}
    <div class="ledge">${drawing(candle, now, "lit")}${beside}</div>
    <figcaption>
      <b>${leftWords(remains)}</b>
      <span class="mark">${remains > 0 ? "burns until" : "burned until"} ${moment(candle.litUntil)}</span>
    </figcaption>
  </figure>`
}

/** The candle between its lights, which are split evenly over both sides. */
const among = (candle: Lit, now: number): Html => {
  const lights = candle.lights.slice(0, mostLights).map((light) => drawing(light, now, "light"))
  const half = Math.ceil(lights.length / 2)
  return html`<div class="votive__flames">
    ${lights.slice(half)}${drawing(candle, now, "lit")}${lights.slice(0, half)}
  </div>`
}

/** More would not fit beside it; the text counts all of them. */
const mostLights = 6

const sealed = ({ intentionCommitment, unsealed }: Lit) =>
  (intentionCommitment !== null || unsealed !== null) &&
  listedWords(intentionCommitment, unsealed && { ...unsealed, text: unsealed.words }, [
    "sealed words inside",
    "unsealed",
  ])

/** The notes below a candle's time left. The first comma is for screen readers, which see no lines. */
const notes = (candle: Lit): ReadonlyArray<Html> =>
  [candle.lightCount > 0 && html`<span class="mark">${count(candle.lightCount, "light")} added</span>`, sealed(candle)]
    .filter((note) => note !== false)
    .map((note, index) => html`${index === 0 ? html`<span class="unseen">, </span>` : ", "}${note}`)

/** A lit candle with its dedication and the time left. */
export const litCandle = (candle: Lit, now: number, spirit?: Html): Html =>
  html`<li class="votive" id="candle-${candle.id}">
    ${among(candle, now)}
    <div class="votive__words">
      <p class="dedication" dir="auto">
        ${candle.dedication && html`<a href="/acts/${candle.id}">${candle.dedication}</a>`}
      </p>
      <p class="small quiet">
        ${spirit && html`For ${spirit}. `}
        ${candle.agentName === null ? "" : html`Lit by ${who(candle.agentName, candle.payer)}.`}
        <a class="votive__left" href="/acts/${candle.id}"
          >${leftWords(Date.parse(candle.litUntil) - now)}<span class="unseen"
            >, until ${moment(candle.litUntil)}</span
          ></a
        >${notes(candle)}
      </p>
    </div>
  </li>`
