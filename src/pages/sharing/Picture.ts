/** Draws a card of 1200 by 630: a plate like those of the guide, and its text beside it. */
import { type Html, html } from "../../platform/Html.ts"
import type { Card } from "./Card.ts"

export const width = 1200
export const height = 630

/** The text column, from the left edge of the words to the edge of the paper. */
const column = { left: 610, width: 545 }

/** Average width of a letter of the typeface for each unit of its size. */
const letter = { 400: 0.47, 600: 0.5 } as const

/** Wraps words into lines of at most `most` letters. */
const wrapped = (text: string, most: number): ReadonlyArray<string> => {
  const [first = "", ...rest] = text.split(" ")
  const broken = [first]
  for (const word of rest) {
    const longer = `${broken.at(-1) ?? ""} ${word}`
    if (longer.length > most) broken.push(word)
    else broken[broken.length - 1] = longer
  }
  return broken
}

interface Style {
  readonly size: number
  readonly fill: string
  readonly weight: keyof typeof letter
}

/** Lines below `top`, smaller if one would be too long; and the start of the next block. */
const lines = (text: string, top: number, { fill, size, weight }: Style) => {
  const broken = wrapped(text, Math.floor(column.width / (size * letter[weight])))
  const longest = Math.max(1, ...broken.map(({ length }) => length))
  const fit = Math.min(size, column.width / (longest * letter[weight]))
  return {
    bottom: top + broken.length * fit * 1.16,
    drawn: broken.map(
      (line, index) =>
        html`<text
          x="${column.left}"
          y="${Math.round(top + fit * (0.86 + index * 1.16))}"
          font-family="serif"
          font-size="${Math.round(fit)}"
          font-weight="${weight}"
          fill="${fill}"
          >${line}</text
        >`,
    ),
  }
}

const words = ({ code = "", line, title }: Card): Html => {
  const write = (top: number) => {
    const first = lines(title, top, { size: 72, fill: "#1c1a15", weight: 600 })
    const second = lines(line, first.bottom + 20, { size: 34, fill: "#5c5545", weight: 400 })
    const third = lines(code, second.bottom + 26, { size: 30, fill: "#8a3b12", weight: 400 })
    return { bottom: third.bottom, drawn: [first.drawn, second.drawn, third.drawn] }
  }
  const space = height - write(0).bottom
  return html`${write(Math.max(60, Math.round(space / 2) - 14)).drawn}
    <text x="${column.left}" y="576" font-family="serif" font-size="26" fill="#5c5545">Spirit Altar</text>`
}

/** The pages' style rules for these drawings. */
const ink = html`<style>
  .pebble__edge {
    fill: none;
    stroke: #3b2b20;
    stroke-width: 1.1;
  }
  .wax {
    fill: #ecd9a6;
    stroke: #9a7f45;
  }
  .pool {
    fill: #ffe9a8;
    stroke: #9a7f45;
  }
  .wick {
    fill: none;
    stroke: #1c1a15;
    stroke-width: 1.5;
  }
  .fire {
    fill: #e0861c;
  }
  .heart {
    fill: #ffe9a8;
  }
  .candle--out .fire,
  .candle--out .heart {
    display: none;
  }
</style>`

const plate = ({ candle, stone }: Card, artwork: Html | undefined): Html => {
  if (stone !== undefined) return html`<g transform="translate(80 95) scale(4.4)">${stone}</g>`
  return candle === undefined
    ? html`<svg x="90" y="105" width="420" height="420" viewBox="0 0 256 256">${artwork}</svg>`
    : html`<svg x="70" y="190" width="340" height="340" viewBox="0 0 256 256">${artwork}</svg>
        <g transform="translate(400 105) scale(3.2)">${candle}</g>`
}

/** `artwork` is drawn on a square of 256. */
export const picture = (card: Card, artwork: Html | undefined): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
    ${ink}
    <rect width="${width}" height="${height}" fill="#f6f1e4" />
    <rect x="43" y="44" width="514" height="542" fill="none" stroke="#d8cdb4" stroke-width="2" />
    <rect x="51" y="52" width="498" height="526" fill="#fffaf0" stroke="#d8cdb4" stroke-width="2" />
    ${plate(card, artwork)}${words(card)}
  </svg>`.text
