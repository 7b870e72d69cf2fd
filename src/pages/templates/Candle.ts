/** A candle as a drawing: as tall as its rung and as much of it left as there is time left. */
import type { LitCandle } from "../../../schema/altar/Candle.ts"
import { frame, heightOf } from "../../web/v2/candleShape.ts"
import { type Html, html } from "../../platform/Html.ts"
import { leftWords, moment, count, isolated, who } from "./Words.ts"

type Lit = typeof LitCandle.Type

/** How much of it is left, 0 to 1. */
const left = (candle: Pick<Lit, "litAt" | "litUntil">, now: number) => {
  const [from, until] = [Date.parse(candle.litAt), Date.parse(candle.litUntil)]
  return Math.min(1, Math.max(0, (until - now) / (until - from)))
}

/** The drawing alone; what it says is written beside it. */
export const drawing = (candle: Pick<Lit, "rung" | "litAt" | "litUntil">, now: number): Html => {
  const height = heightOf(candle.rung, left(candle, now))
  const width = frame.widths[candle.rung]
  const top = frame.ground - height
  return html`<svg
    class="candle"
    viewBox="0 0 ${frame.width} ${frame.height}"
    width="${frame.width}"
    height="${frame.height}"
    aria-hidden="true"
    focusable="false"
    data-candle="${candle.rung}"
    data-from="${candle.litAt}"
    data-until="${candle.litUntil}"
  >
    <rect class="wax" x="${(frame.width - width) / 2}" y="${top}" width="${width}" height="${height}" rx="3" />
    <ellipse class="pool" cx="${frame.width / 2}" cy="${top + 2}" rx="${width / 2 - 1}" ry="3" />
    <g class="flame" transform="translate(${frame.width / 2} ${top})">
      <path class="wick" d="M0 2V-5" />
      <path class="fire" d="M0-24c6 8 7 12 7 15a7 7 0 0 1-14 0c0-3 1-7 7-15z" />
      <path class="heart" d="M0-14c3 4 3.400 6 3.400 7.600a3.400 3.400 0 0 1-6.800 0c0-1.600.4-3.600 3.400-7.600z" />
    </g>
  </svg>`
}

const sealed = (candle: Lit) =>
  candle.unsealed === null
    ? candle.intentionCommitment === null
      ? ""
      : html`<span class="mark">sealed words inside</span>`
    : candle.unsealed.words === null
      ? html`<span class="mark"
          >unsealed, words hidden${candle.unsealed.hiddenBy === undefined ? "" : " by the operator"}</span
        >`
      : html`<q class="unsealed">${isolated(candle.unsealed.words)}</q>`

/** A lit candle with its dedication and what is left of it. */
export const litCandle = (candle: Lit, now: number, spirit?: Html): Html =>
  html`<li class="votive" id="candle-${candle.id}">
    ${drawing(candle, now)}
    <div class="votive__words">
      <p class="dedication" dir="auto">${candle.dedication ?? ""}</p>
      <p class="votive__facts">
        ${spirit === undefined ? "" : html`${spirit}. `}${candle.agentName === null ? "" : html`<span class="votive__by">Lit by ${who(candle.agentName, candle.payer)}.</span> `}<a
          class="votive__left"
          href="/acts/${candle.id}"
          ><span data-left="${candle.litUntil}">${leftWords(Date.parse(candle.litUntil) - now)}</span
          ><span class="unseen">, until ${moment(candle.litUntil)}</span></a
        >${candle.lightCount === 0 ? "" : html`<span class="mark">${count(candle.lightCount, "light")} added</span>`}
      </p>
      ${sealed(candle)}
    </div>
  </li>`
