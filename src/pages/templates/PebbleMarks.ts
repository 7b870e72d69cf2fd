/** The marks that tell stones apart at a glance. */
import { type Html, html } from "../../platform/Html.ts"
import { type Digits, type Rock, stroke as line } from "./PebbleGrain.ts"

export const marks = [
  "plain",
  "a ring",
  "an ammonite",
  "a vein of quartz",
  "lichen",
  "a hole",
  "a cross of quartz",
  "a fern",
  "a cap of moss",
  "barnacles",
  "a star",
  "a snail",
] as const

export type Mark = (typeof marks)[number]

/** The line colour of all drawings of the guide. */
const ink = "#3b2b20"
const quartz = "#f6f1e6"

const round = (value: number) => Math.round(value * 10) / 10

/** A light line with a dark one around it, so that it shows on every rock. */
const inlaid = (d: string, dark: string, width: number) => html`${line(d, dark, width + 2.4)}${line(d, quartz, width)}`

/** Around 0, 0, about 20 wide. */
const drawn: Readonly<Record<Mark, (rock: Rock, digit: Digits) => Html | string>> = {
  plain: () => "",
  "a ring": ({ dark }) =>
    html`<ellipse rx="15" ry="11" fill="none" stroke="${dark}" stroke-width="6.600" /><ellipse
        rx="15"
        ry="11"
        fill="none"
        stroke="${quartz}"
        stroke-width="4"
      />`,
  "an ammonite": ({ dark, light }) => {
    const at = (step: number, size: number) => {
      const [angle, radius] = [step * 0.5, size * (1 - step / 30)]
      return `${round(radius * Math.cos(angle))} ${round(radius * Math.sin(angle))}`
    }
    const coil = Array.from({ length: 28 }, (_, step) => `${step === 0 ? "M" : "L"}${at(step, 12)}`).join("")
    const ribs = Array.from({ length: 13 }, (_, step) => `M${at(step, 14)}L${at(step, 9.5)}`).join("")
    return html`<circle
        r="14.500"
        fill="${light}"
        stroke="${ink}"
        stroke-width="1.800"
      />${line(ribs, dark, 1.4)}${line(coil, ink, 1.8)}`
  },
  "a vein of quartz": ({ dark }, digit) => inlaid("M-70 2L-34-2L-14 5L4-4L22 3L70-3", dark, round(3 + 2 * digit(30))),
  lichen: () =>
    html`${[
      [0, 0, 7],
      [11, 4, 4.5],
      [3, 11, 5],
      [-9, 6, 4],
      [7, -8, 3.5],
    ].map(
      ([x, y, r]) =>
        html`<circle
            cx="${x ?? 0}"
            cy="${y ?? 0}"
            r="${r ?? 0}"
            fill="#d9b648"
            stroke="#8f7420"
            stroke-width="1.200"
          /><circle cx="${x ?? 0}" cy="${y ?? 0}" r="${round((r ?? 0) * 0.45)}" fill="#b98a2c" />`,
    )}`,
  "a hole": ({ dark, light }) =>
    html`<ellipse rx="11" ry="9" fill="${dark}" stroke="${ink}" stroke-width="1.600" /><ellipse
        cx="1"
        cy="1.500"
        rx="8"
        ry="6"
        fill="#241a14"
      />${line("M-7 7.500q8 4 15-2", light, 1.6)}`,
  "a cross of quartz": ({ dark }) =>
    html`${line("M-70 3L-8-1L70 4", dark, 5.4)}${line("M4-70L-1 2L5 70", dark, 4.8)}${line("M-70 3L-8-1L70 4", quartz, 3.2)}${line("M4-70L-1 2L5 70", quartz, 2.6)}`,
  "a fern": ({ dark, light }) => {
    const fronds = [0, 1, 2, 3, 4]
      .map((step) => {
        const [at, reach] = [10 - step * 5.4, 9.5 - step * 1.6]
        return `M0 ${round(at)}q${round(-reach * 0.7)}-1 ${round(-reach)} ${round(-reach * 0.9)}M0 ${round(at)}q${round(reach * 0.7)}-1 ${round(reach)} ${round(-reach * 0.9)}`
      })
      .join("")
    return html`${line(`M0 17V-18${fronds}`, light, 4)}${line(`M0 17V-18${fronds}`, dark, 2.2)}`
  },
  "a cap of moss": () => "",
  barnacles: () =>
    html`${[
      [-9, 3, 1],
      [3, -6, 0.8],
      [8, 7, 1.15],
    ].map(
      ([x, y, size]) =>
        html`<g transform="translate(${x ?? 0} ${y ?? 0}) scale(${size ?? 1})"
          ><path
            d="M-9 5.500C-7-2-4.500-5-3.500-5h7C4.500-5 7-2 9 5.500C4 7.500-4 7.500-9 5.500z"
            fill="#efe8da"
            stroke="${ink}"
            stroke-width="1.600"
            stroke-linejoin="round" /><path
            d="M-5 5Q-3.500-1-2.200-3M0 5.500V-2.500M5 5Q3.500-1 2.200-3"
            stroke="#b3a78f"
            stroke-width="1.200" /><ellipse cy="-4.600" rx="3.500" ry="1.900" fill="#4b3d33"
        /></g>`,
    )}`,
  "a star": ({ dark }) =>
    html`<path
      d="M0-17L3.500-4.500L16-6L6 2L11 14L0 7L-11 14L-6 2L-16-6L-3.500-4.500z"
      fill="${quartz}"
      stroke="${dark}"
      stroke-width="1.800"
      stroke-linejoin="round"
    />`,
  "a snail": () =>
    html`<path d="M-17 9c2-5 6-4 9-4h16c6 0 7 4 6 6z" fill="#c9a06a" stroke="${ink}" stroke-width="1.600" /><circle
        cx="2"
        cy="0"
        r="9.500"
        fill="#e3bd7b"
        stroke="${ink}"
        stroke-width="1.600"
      />${line("M2 0m-5 1.500a5.500 5.500 0 1 1 9 2.500a4 4 0 0 1-6-4a2.500 2.500 0 0 1 4 .5", "#8a5a2b", 1.5)}${line("M-14 6l-3-6M-12 5.500l-1-6", ink, 1.3)}`,
}

/** Seen from above: cushions with the stalks that mosses lift in spring. */
const moss = (digit: Digits, middle: number) => {
  const top = round(middle - 34 + 10 * digit(27))
  const cushions = [-38, -26, -13, 0, 13, 26, 38].map(
    (x, index) =>
      html`<circle
        cx="${50 + x}"
        cy="${round(top + 6 * digit(20 + index))}"
        r="${round(11 + 5 * digit(index + 2))}"
      />`,
  )
  return html`<g fill="#5e8a34">${cushions}</g>
    <g fill="#8db94a" transform="translate(-1 -5)">${cushions}</g
    >${line(`M30 ${top}q2 6 5 7M46 ${top + 6}q4 2 7 0M66 ${top + 1}q4 2 7-1`, "#4c7227", 1.4)}`
}

const fixed: ReadonlySet<Mark> = new Set(["a snail", "barnacles"])

/** The mark in its place on the stone, rotated. */
export const markOn = (mark: Mark, rock: Rock, digit: Digits, middle: number): Html | string => {
  if (mark === "plain") return ""
  if (mark === "a cap of moss") return moss(digit, middle)
  const x = round(44 + 12 * digit(26))
  const y = round(middle - 4 + 8 * digit(27))
  const turn = fixed.has(mark) ? Math.round(30 * digit(29) - 15) : Math.round(360 * digit(29))
  return html`<g transform="translate(${x} ${y}) rotate(${turn}) scale(${round(0.95 + 0.25 * digit(28))})">
    ${drawn[mark](rock, digit)}
  </g>`
}
