/** QR codes as SVG. */
import { generate } from "lean-qr"
import { toSvgPath } from "lean-qr/extras/svg"
import { type Html, html } from "../../platform/Html.ts"

/** The quiet zone around a code, in modules. */
const quiet = 4

/** `label` names it for readers who do not see it; on paper of its own it brings a white ground. */
export const qrCode = (text: string, label: string, ground = false): Html => {
  const matrix = generate(text)
  const size = matrix.size + 2 * quiet
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    class="qr"
    viewBox="${-quiet} ${-quiet} ${size} ${size}"
    width="120"
    height="120"
    shape-rendering="crispEdges"
    role="img"
    aria-label="${label}"
  >
    ${ground ? html`<rect x="${-quiet}" y="${-quiet}" width="${size}" height="${size}" fill="#fff" />` : ""}
    <path d="${toSvgPath(matrix)}" />
  </svg>`
}
