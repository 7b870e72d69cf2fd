/** A stone drawn from its commitment: rock, outline, bands, specks and one mark are read from its digits. */
import { type Html, html } from "../../platform/Html.ts"

const corners = 11
const middle = 50

/** A named rock, its colour, a darker and a lighter one of its kin. */
const rocks = [
  ["slate", "#7d8a99", "#566474", "#aab6c2"],
  ["basalt", "#6b6a6e", "#48474c", "#928f95"],
  ["sandstone", "#cda676", "#a67b48", "#e7cda6"],
  ["rose quartz", "#d3a29b", "#ab716b", "#ecccc6"],
  ["serpentine", "#84a083", "#587659", "#b3cab0"],
  ["limestone", "#d0c6a9", "#a59977", "#ebe4cf"],
  ["jasper", "#b5654c", "#833f2b", "#d99c83"],
  ["lapis", "#6478ab", "#42558a", "#a0afd4"],
] as const

const marks = [
  "plain",
  "a ring",
  "a spiral",
  "a vein of quartz",
  "lichen",
  "a hole",
  "a cross of quartz",
  "a fern",
] as const

const round = (value: number) => Math.round(value * 10) / 10

/** A number from 0 to 1 for each byte. */
const bytesOf = (commitment: string) => {
  const bytes = commitment.match(/../gu)?.map((pair) => Number.parseInt(pair, 16) / 256) ?? []
  return (index: number) => bytes[index % bytes.length] ?? 0
}

type Digits = ReturnType<typeof bytesOf>

const rockOf = (digit: Digits) => rocks[Math.floor(digit(11) * rocks.length)] ?? rocks[0]
const markOf = (digit: Digits) => marks[Math.floor(digit(12) * marks.length)] ?? "plain"
const bandsOf = (digit: Digits) => Math.floor(digit(13) * 4)

/** A closed smooth line through the corners (Catmull-Rom as cubic curves). */
const outline = (digit: Digits): string => {
  // How flat a stone is decides its figure more than any corner.
  const flatness = 0.72 + 0.22 * digit(14)
  const points = Array.from({ length: corners }, (_, index) => {
    const angle = (index / corners) * 2 * Math.PI
    const radius = 34 + 9 * digit(index)
    return [middle + radius * 1.06 * Math.cos(angle), middle + radius * flatness * Math.sin(angle)] as const
  })
  const at = (index: number) => points[(index + corners) % corners] ?? ([middle, middle] as const)
  const curve = (index: number) => {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)]
    return `C${round(from[0] + (to[0] - before[0]) / 6)} ${round(from[1] + (to[1] - before[1]) / 6)} ${round(to[0] - (after[0] - from[0]) / 6)} ${round(to[1] - (after[1] - from[1]) / 6)} ${round(to[0])} ${round(to[1])}`
  }
  return `M${round(at(0)[0])} ${round(at(0)[1])}${points.map((_, index) => curve(index)).join("")}Z`
}

/** Layers that lay once on the ground of a sea, now at any slant. */
const strata = (digit: Digits, colour: string) => {
  const number = bandsOf(digit)
  const line = Array.from({ length: number }, (_, index) => {
    const height = round(50 + (index - (number - 1) / 2) * (13 + 5 * digit(16)) + 6 * (digit(17 + index) - 0.5))
    const bend = round(10 * (digit(20 + index) - 0.5))
    return `M-5 ${height}q27 ${bend} 55 0t55 0`
  }).join("")
  return number === 0
    ? ""
    : html`<path
        d="${line}"
        transform="rotate(${Math.round(70 * digit(15) - 35)} 50 50)"
        fill="none"
        stroke="${colour}"
        stroke-width="${round(3 + 4 * digit(23))}"
        opacity=".5"
      />`
}

/** Grains, each a short stroke of a round pen. */
const specks = (digit: Digits, colour: string) => {
  const grains = Array.from({ length: 5 + Math.floor(7 * digit(24)) }, (_, index) => {
    const angle = 2 * Math.PI * digit(index * 3 + 1)
    const distance = 6 + 24 * Math.sqrt(digit(index * 5 + 2))
    return `M${round(50 + distance * Math.cos(angle))} ${round(50 + 0.75 * distance * Math.sin(angle))}h.1`
  })
  return html`<path
    d="${grains.join("")}"
    stroke="${colour}"
    stroke-width="${round(2 + 1.6 * digit(25))}"
    stroke-linecap="round"
  />`
}

const line = (d: string, colour: string, width: number) =>
  html`<path
    d="${d}"
    fill="none"
    stroke="${colour}"
    stroke-width="${width}"
    stroke-linecap="round"
    stroke-linejoin="round"
  />`

/** What makes one stone be told from another at a glance. */
const markOn = (digit: Digits, dark: string, light: string): Html | string => {
  const x = round(42 + 16 * digit(26))
  const y = round(43 + 12 * digit(27))
  const size = 7 + 4 * digit(28)
  const turn = Math.round(360 * digit(29))
  const turned = (mark: Html) => html`<g transform="rotate(${turn} ${x} ${y})">${mark}</g>`
  switch (markOf(digit)) {
    case "a ring":
      return html`<ellipse
        cx="${x}"
        cy="${y}"
        rx="${round(size * 1.4)}"
        ry="${round(size)}"
        fill="none"
        stroke="${light}"
        stroke-width="3.4"
        transform="rotate(${turn} ${x} ${y})"
      />`
    case "a spiral": {
      const turns = Array.from({ length: 22 }, (_, step) => {
        const angle = step * 0.62
        const radius = size * 1.35 * (1 - step / 24)
        return `${step === 0 ? "M" : "L"}${round(x + radius * Math.cos(angle))} ${round(y + radius * Math.sin(angle))}`
      })
      return turned(line(turns.join(""), dark, 2.4))
    }
    case "a vein of quartz":
      return turned(line(`M${x - 50} ${y}l24 -3l12 5l14 -4l16 3l34 -2`, "#f4efe4", round(2.4 + 2 * digit(30))))
    case "a cross of quartz":
      return turned(
        html`${line(`M${x - 50} ${y}l46 -2l54 3`, "#f4efe4", 2.6)}${line(`M${x + 3} ${y - 50}l-3 48l4 52`, "#f4efe4", 1.8)}`,
      )
    case "lichen":
      return turned(
        line(
          `M${x} ${y}h.1M${round(x + size * 0.8)} ${round(y + 2)}h.1M${round(x + 2)} ${round(y + size * 0.7)}h.1M${round(x - size * 0.7)} ${round(y + 3)}h.1M${round(x + size * 0.5)} ${round(y - size * 0.7)}h.1`,
          "#b9c267",
          round(size * 0.75),
        ),
      )
    case "a hole":
      return html`<ellipse
        cx="${x}"
        cy="${y}"
        rx="${round(size)}"
        ry="${round(size * 0.8)}"
        fill="#2c2118"
        stroke="${dark}"
        stroke-width="2.5"
      />`
    case "a fern": {
      const leaves = [0, 1, 2, 3].map((step) => {
        const at = round(y + size - step * size * 0.6)
        const reach = round(size * (0.85 - step * 0.17))
        return `M${x} ${at}l${-reach} ${-reach}M${x} ${at}l${reach} ${-reach}`
      })
      return turned(line(`M${x} ${round(y + size * 1.5)}V${round(y - size * 1.4)}${leaves.join("")}`, dark, 1.7))
    }
    default:
      return ""
  }
}

/** The pebble in words, as whoever looks for it would ask for it. */
export const pebbleWords = (commitment: string): string => {
  const digit = bytesOf(commitment)
  const [rock] = rockOf(digit)
  const mark = markOf(digit)
  const bands = bandsOf(digit)
  const banded = bands === 0 ? [] : [bands === 1 ? "one band" : `${bands === 2 ? "two" : "three"} bands`]
  const has = [...banded, ...(mark === "plain" ? [] : [mark])]
  return has.length === 0 ? `plain ${rock}` : `${rock} with ${has.join(" and ")}`
}

/** `place` tells two drawings of one stone on a page apart. */
export const pebble = (commitment: string, place = "stone"): Html => {
  const digit = bytesOf(commitment)
  const [, body, dark, light] = rockOf(digit)
  const edge = outline(digit)
  const id = `${place}-${commitment.slice(0, 16)}`
  const shade = html`<use
    href="#${id}"
    fill="none"
    stroke="${dark}"
    stroke-width="13"
    opacity=".38"
    transform="translate(-3 -5)"
  />`
  const gloss = html`<path
    d="M27 41q9-14 27-15"
    fill="none"
    stroke="#fff"
    stroke-width="4"
    stroke-linecap="round"
    opacity=".38"
  />`
  const inside = [strata(digit, digit(31) < 0.5 ? dark : light), specks(digit, digit(30) < 0.5 ? light : dark)]
  return html`<svg class="pebble" viewBox="0 0 100 100" width="100" height="100" aria-hidden="true" focusable="false">
    <clipPath id="${id}-in"><path id="${id}" d="${edge}" /></clipPath>
    <use class="pebble__body" href="#${id}" fill="${body}" />
    <g class="pebble__inside" clip-path="url(#${id}-in)">${inside}${markOn(digit, dark, light)}${shade}${gloss}</g>
    <path class="pebble__edge" d="${edge}" />
  </svg>`
}
