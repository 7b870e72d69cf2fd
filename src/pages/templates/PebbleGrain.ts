/** The grain of each kind of rock, as seen on a wet stone. */
import { type Html, html } from "../../platform/Html.ts"

export interface Rock {
  readonly name: string
  readonly body: string
  readonly dark: string
  readonly light: string
}

/** A number from 0 to 1 for each byte of a commitment. */
export type Digits = (index: number) => number

/** The same digits from a later one on. */
const from =
  (digit: Digits, first: number): Digits =>
  (index) =>
    digit(index + first)

type Draw = (rock: Rock, digit: Digits, outline: string, middle: number) => Html

/** Whole numbers are precise enough for a grain, and half as long. */
const round = Math.round

export const stroke = (d: string, colour: string, width: number, opacity?: number) =>
  html`<path
    d="${d}"
    fill="none"
    stroke="${colour}"
    stroke-width="${width}"
    stroke-linecap="round"
    stroke-linejoin="round"
    ${opacity === undefined ? "" : html`opacity="${opacity}"`}
  />`

/** Spreads places over the stone, each with a digit of its own. */
const places = (number: number, digit: Digits, middle: number) =>
  Array.from({ length: number }, (_, index) => {
    // The golden angle keeps neighbours apart.
    const angle = index * 2.399963 + 6.283 * digit(9)
    const distance = 38 * Math.sqrt((index + 0.6) / number)
    return [
      round(50 + distance * Math.cos(angle) + 5 * (digit(index * 3 + 1) - 0.5)),
      round(middle + 0.86 * distance * Math.sin(angle) + 5 * (digit(index * 5 + 2) - 0.5)),
      digit(index * 7 + 3),
    ] as const
  })

const dots = (number: number, digit: Digits, middle: number) =>
  places(number, digit, middle)
    .map(([x, y]) => `M${x} ${y}h.1`)
    .join("")

/** Lines along the same slant, from edge to edge. */
const lines = (number: number, digit: Digits, middle: number, wave: number) =>
  Array.from({ length: number }, (_, index) => {
    const height = round(middle - 42 + (index + 0.5 + 0.5 * digit(index)) * (84 / number))
    return `M-10 ${height}q30 ${round(wave * (digit(index + 4) - 0.3))} 60 0t60 0`
  }).join("")

const turned = (digit: Digits, middle: number, most: number, drawn: Html | ReadonlyArray<Html>) =>
  html`<g transform="rotate(${Math.round((digit(10) - 0.5) * most)} 50 ${middle})">${drawn}</g>`

/** The outline in ever smaller copies, as agate grows. */
const within = (outline: string, sizes: ReadonlyArray<readonly [number, string, number]>, x: number, y: number) =>
  sizes.map(
    ([size, colour, width]) =>
      html`<use
        href="${outline}"
        fill="none"
        stroke="${colour}"
        stroke-width="${round((width / size) * 10) / 10}"
        transform="translate(${round(x * (1 - size))} ${round(y * (1 - size))}) scale(${size})"
      />`,
  )

const grains: Readonly<Record<string, Draw>> = {
  slate: (rock, digit, _, middle) =>
    turned(digit, middle, 90, [
      stroke(lines(9, digit, middle, 4), rock.dark, 1, 0.55),
      stroke(lines(4, from(digit, 9), middle, 4), rock.light, 1.2, 0.7),
    ]),
  basalt: (rock, digit, _, middle) =>
    html`${stroke(dots(15, digit, middle), rock.dark, 4.4, 0.9)}${stroke(
      dots(8, from(digit, 6), middle),
      "#2b292f",
      2.6,
    )}`,
  sandstone: (rock, digit, _, middle) =>
    turned(digit, middle, 50, [
      stroke(lines(6, digit, middle, 13), rock.dark, 2, 0.5),
      stroke(lines(5, from(digit, 7), middle, 13), rock.light, 2.6, 0.65),
    ]),
  "rose quartz": (rock, digit, _, middle) => {
    const [x, y] = [round(40 + 20 * digit(5)), round(middle - 10 + 20 * digit(6))]
    return html`<path d="M${x} ${y}L-10 ${round(middle - 30)}L40 -10Z" fill="${rock.light}" opacity=".75" /><path
        d="M${x} ${y}L110 ${round(middle - 10)}L80 110Z"
        fill="${rock.dark}"
        opacity=".42"
      /><path
        d="M${x} ${y}L20 110L80 110Z"
        fill="${rock.light}"
        opacity=".4"
      />${stroke(`M${x} ${y}L40 -10M${x} ${y}L-10 ${round(middle - 30)}M${x} ${y}L110 ${round(middle - 10)}M${x} ${y}L80 110M${x} ${y}L20 110`, "#fff", 1.2, 0.7)}`
  },
  serpentine: (rock, digit, _, middle) =>
    html`${stroke(dots(9, digit, middle), rock.dark, 11, 0.6)}${stroke(dots(9, digit, middle), rock.light, 4, 0.75)}`,
  limestone: (rock, digit, _, middle) =>
    html`${places(7, digit, middle).map(([x, y, turn]) => html`<path d="M-4 2a4.500 4.500 0 0 1 8 0M-2.200 2a2.300 2.300 0 0 1 4.400 0" transform="translate(${x} ${y}) rotate(${Math.round(turn * 360)})" fill="none" stroke="${rock.dark}" stroke-width="1.300" stroke-linecap="round" />`)}${stroke(
      dots(10, from(digit, 5), middle),
      rock.light,
      2.4,
    )}`,
  jasper: (rock, digit, _, middle) => {
    const orbs = dots(5, digit, middle)
    return html`${stroke(orbs, rock.dark, 15, 0.75)}${stroke(orbs, rock.light, 10, 0.8)}${stroke(orbs, rock.dark, 5)}`
  },
  lapis: (rock, digit, _, middle) =>
    html`${turned(digit, middle, 120, stroke(`M-10 ${round(middle + 8)}q28 -16 52 -5t70 -12`, "#dfe6f5", round(4 + 5 * digit(7)), 0.45))}${stroke(dots(13, digit, middle), "#edc14f", 2.3)}${stroke(
      dots(6, from(digit, 8), middle),
      rock.dark,
      5,
      0.5,
    )}`,
  granite: (rock, digit, _, middle) =>
    html`${stroke(dots(24, digit, middle), rock.dark, 2.8, 0.85)}${stroke(
      dots(19, from(digit, 3), middle),
      rock.light,
      3.6,
    )}${stroke(dots(11, from(digit, 8), middle), "#c98f83", 3.2)}`,
  malachite: (rock, digit, _, middle) => {
    const [x, y] = [round(20 + 60 * digit(5)), round(middle + (digit(6) < 0.5 ? 34 : -34))]
    return html`${[12, 23, 34, 45, 56, 67, 78].map((radius, index) => html`<circle cx="${x}" cy="${y}" r="${radius}" fill="none" stroke="${index % 2 === 0 ? rock.dark : rock.light}" stroke-width="${round(3 + 3 * digit(index + 2))}" opacity=".8" />`)}`
  },
  agate: (rock, digit, outline, middle) =>
    html`${within(
      outline,
      [
        [0.86, rock.light, 3],
        [0.74, rock.dark, 2.4],
        [0.62, "#fff4de", 4],
        [0.48, rock.dark, 2.4],
        [0.36, rock.light, 4],
        [0.2, rock.dark, 5],
      ],
      round(42 + 16 * digit(5)),
      round(middle - 6 + 12 * digit(6)),
    )}`,
  amethyst: (rock, digit, _, middle) =>
    html`${places(8, digit, middle).map(([x, y, turn]) => html`<path d="M0-9l5 6v8l-5 4l-5-4v-8z" transform="translate(${x} ${y}) rotate(${Math.round(turn * 60 - 30)})" fill="${turn < 0.5 ? rock.light : rock.dark}" stroke="${rock.dark}" stroke-width=".8" opacity=".75" />`)}`,
}

/** `outline` is the id of the stone's own edge, for grains that follow it. */
export const grainOf: (...stone: Parameters<Draw>) => Html | string = (...stone) =>
  grains[stone[0].name]?.(...stone) ?? ""
