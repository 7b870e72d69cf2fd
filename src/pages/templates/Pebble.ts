/** A stone's outline, drawn from its commitment: the same digits always give the same pebble. */
import { type Html, html } from "../../platform/Html.ts"

const corners = 9
const middle = 50

const digitsAt = (commitment: string, index: number) =>
  Number.parseInt(commitment.slice(index * 2, index * 2 + 2), 16) / 255

const round = (value: number) => Math.round(value * 10) / 10

/** A closed smooth line through the corners (Catmull-Rom as cubic curves). */
const outline = (commitment: string): string => {
  const points = Array.from({ length: corners }, (_, index) => {
    const angle = (index / corners) * 2 * Math.PI
    const radius = 30 + 13 * digitsAt(commitment, index)
    return [middle + radius * 1.1 * Math.cos(angle), middle + radius * 0.86 * Math.sin(angle)] as const
  })
  const at = (index: number) => points[(index + corners) % corners] ?? ([middle, middle] as const)
  const curve = (index: number) => {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)]
    return `C${round(from[0] + (to[0] - before[0]) / 6)} ${round(from[1] + (to[1] - before[1]) / 6)} ${round(to[0] - (after[0] - from[0]) / 6)} ${round(to[1] - (after[1] - from[1]) / 6)} ${round(to[0])} ${round(to[1])}`
  }
  return `M${round(at(0)[0])} ${round(at(0)[1])}${points.map((_, index) => curve(index)).join("")}Z`
}

/** `tone` 0 to 3 is one of four kinds of rock. */
export const pebble = (commitment: string): Html => {
  const tone = Math.floor(digitsAt(commitment, 12) * 3.99)
  // Both veins stay inside the narrowest pebble there can be.
  const vein = round(42 + 12 * digitsAt(commitment, 13))
  const dip = round(16 * digitsAt(commitment, 14) - 8)
  return html`<svg
    class="pebble pebble--${tone}"
    viewBox="0 0 100 100"
    width="100"
    height="100"
    aria-hidden="true"
    focusable="false"
  >
    <path class="pebble__body" d="${outline(commitment)}" />
    <path class="pebble__vein" d="M28 ${vein}q22 ${dip} 44 ${round(dip / 3)}" />
    <path class="pebble__vein" d="M35 ${round(vein + 7)}q16 ${dip} 32 ${round(dip / 3)}" />
  </svg>`
}
