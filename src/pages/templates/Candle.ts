/** Drawings of candles, whose heights show their durations and the time left. */
import { Schema, Struct } from "effect"
import { LitCandle } from "../../../schema/altar/Candle.ts"
import { type Html, html } from "../../platform/Html.ts"
import { listedWords } from "./Seal.ts"
import { leftWords, moment, count, who } from "./Words.ts"

type Lit = typeof LitCandle.Type

/** Longer candles are taller and stouter. */
const frame = {
  width: 40,
  height: 132,
  ground: 130,
  widths: { day: 14, week: 18, month: 22 },
  heights: { day: 54, week: 76, month: 100 },
} as const

/** `remains` is 0 to 1; a stub stays until the end. */
const heightOf = (rung: Lit["rung"], remains: number): number =>
  Math.round((8 + (frame.heights[rung] - 8) * remains) * 100) / 100

/** The remaining part, 0 to 1. */
const left = (candle: Pick<Lit, "litAt" | "litUntil">, now: number) => {
  const [from, until] = [Date.parse(candle.litAt), Date.parse(candle.litUntil)]
  return Math.min(1, Math.max(0, (until - now) / (until - from)))
}

/** Three shapes of wax that ran down; the second of lighting selects one. */
const runs = [
  "M-W 2v6c0 2.500 3 2.500 3 0V6c0-1.500 1.500-1.500 1.500 0v7c0 2.800 3 2.800 3 0V4.800",
  "M-W 2v11c0 2.500 3 2.500 3 0V7c0-1.500 1.500-1.500 1.500 0v1c0 2.300 2.500 2.300 2.500 0V4.700",
  "MW 2v8c0 2.500-3 2.500-3 0V7c0-1.500-1.500-1.500-1.500 0v5c0 2.300-2.500 2.300-2.500 0V4.700",
] as const

type Burning = Pick<Lit, "rung" | "litAt" | "litUntil">

/** The drawing alone; the text is beside it. `lit` is a flame with its light around it. */
export const drawing = (candle: Burning, now: number, kind: "taper" | "lit" | "light" = "taper"): Html => {
  const remains = left(candle, now)
  const height = heightOf(candle.rung, remains)
  const width = frame.widths[candle.rung]
  const top = frame.ground - height
  const run = runs[Number(candle.litAt.slice(17, 19)) % runs.length] ?? runs[0]
  return html`<svg
    class="candle${kind === "light" ? " candle--light" : ""}${remains === 0 ? " candle--out" : ""}"
    viewBox="0 0 ${frame.width} ${frame.height}"
    width="${frame.width}"
    height="${frame.height}"
    aria-hidden="true"
    focusable="false"
  >
    <rect class="wax" x="${(frame.width - width) / 2}" y="${top}" width="${width}" height="${height}" rx="3" />
    <ellipse class="pool" cx="${frame.width / 2}" cy="${top + 2}" rx="${width / 2 - 1}" ry="3" />
    <g class="flame" transform="translate(${frame.width / 2} ${top})">
      ${kind === "taper" ? "" : html`<circle class="glow" cy="-10" r="${kind === "lit" ? 64 : 40}" /><path class="run" d="${run.replace("W", `${width / 2}`)}" />`}
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
  const lights = candle.lights.slice(0, mostLights).map((one) => drawing(one, now, "light"))
  const half = Math.ceil(lights.length / 2)
  return html`<div class="votive__flames">
    ${lights.slice(half)}${drawing(candle, now, "lit")}${lights.slice(0, half)}
  </div>`
}

/** More would not fit beside it; the text counts all of them. */
const mostLights = 6

const sealed = ({ intentionCommitment, unsealed }: Lit) =>
  intentionCommitment === null && unsealed === null
    ? ""
    : listedWords(intentionCommitment, unsealed && { ...unsealed, text: unsealed.words }, [
        "sealed words inside",
        "unsealed",
      ])

/** A lit candle with its dedication and the time left. */
export const litCandle = (candle: Lit, now: number, spirit?: Html): Html =>
  html`<li class="votive" id="candle-${candle.id}">
    ${among(candle, now)}
    <div class="votive__words">
      <p class="dedication" dir="auto">${candle.dedication ?? ""}</p>
      <p class="small quiet">
        ${spirit && html`${spirit}. `}
        ${candle.agentName === null ? "" : html`Lit by ${who(candle.agentName, candle.payer)}.`}
        <a class="votive__left" href="/acts/${candle.id}"
          >${leftWords(Date.parse(candle.litUntil) - now)}<span class="unseen"
            >, until ${moment(candle.litUntil)}</span
          ></a
        >
        ${candle.lightCount === 0 ? "" : html`<span class="mark">${count(candle.lightCount, "light")} added</span>`}
        ${sealed(candle)}
      </p>
    </div>
  </li>`
