/** A badge of a stone for other sites: an SVG without script that shows which stone it is and when it was set. */
import { Html, html } from "../../platform/Html.ts"
import { pebble } from "../templates/Pebble.ts"
import type { Stone } from "../templates/Witness.ts"
import { dayWords } from "../templates/Words.ts"
import { ends } from "./Card.ts"

export const width = 280
export const height = 64

export const badgePath = (id: string) => `/witness/${id}/badge.svg`

const saying = ({ commitment, sequence, witnessedAt }: Stone) =>
  `Witness stone ${sequence}, set ${dayWords(witnessedAt)}, for the commitment ${commitment}`

const serif = "'Iowan Old Style', Palatino, Charter, Georgia, 'DejaVu Serif', serif"
const monospace = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

/** The badge's policy allows no styles, so attributes replace the page's style of a pebble's edge. */
const drawn = (commitment: string) =>
  new Html(pebble(commitment).text.replace('class="pebble__edge"', 'fill="none" stroke="#3b2b20" stroke-width="2.5"'))

/** `isLost` when the payment was orphaned; the badge then says so. */
export const badge = (stone: Stone, isLost: boolean): string =>
  html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    role="img"
    aria-label="${isLost ? `The payment of witness stone ${stone.sequence} was lost` : saying(stone)}"
  >
    <title>${isLost ? `The payment of witness stone ${stone.sequence} was lost` : saying(stone)}</title>
    <rect x="0.75" y="0.75" width="278.5" height="62.5" rx="7" fill="#fdf9ef" stroke="#8c8168" stroke-width="1.5" />
    <g transform="translate(7 3) scale(0.58)">${drawn(stone.commitment)}</g>
    <g font-family="${serif}" fill="#1c1a15">
      <text
        x="74"
        y="25"
        font-size="16"
        font-weight="600"
        textLength="${Math.min(194, 118 + 9 * String(stone.sequence).length)}"
      >
        Witness stone ${stone.sequence}
      </text>
      <text x="74" y="42" textLength="138" font-family="${monospace}" font-size="12" fill="#8a3b12">
        ${ends(stone.commitment)}
      </text>
      <text x="74" y="56" font-size="11">
        ${isLost ? "Its payment was lost" : `Spirit Altar, ${dayWords(stone.witnessedAt)}`}
      </text>
    </g>
  </svg>`.text

/** The code to paste into a page, and into a Markdown document. */
export const snippets = (publicUrl: string, stone: Stone): Readonly<Record<"HTML" | "Markdown", string>> => {
  const image = `${publicUrl}${badgePath(stone.id)}`
  const link = `${publicUrl}/witness/${stone.id}`
  const alt = `Witness stone ${stone.sequence} on Spirit Altar`
  return {
    HTML: `<a href="${link}"><img src="${image}" alt="${alt}" width="${width}" height="${height}"></a>`,
    Markdown: `[![${alt}](${image})](${link})`,
  }
}
