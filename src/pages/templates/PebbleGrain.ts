/** The grain of each kind of rock, as seen on a wet stone, and the marks that tell stones apart at a glance. */

export interface Rock {
  readonly name: string
  readonly body: string
  readonly dark: string
  readonly light: string
}

/** A number from 0 to 1 for each byte of a commitment. */
export type Digits = (index: number) => number

/** The stone under the pen; `outline` is the id of its edge, and `middle` its height at the middle. */
export interface Ground {
  readonly rock: Rock
  readonly digit: Digits
  readonly middle: number
  readonly outline: string
}

/** Whole numbers are precise enough for a grain, and half as long. */
const whole = Math.round
const round = (value: number) => Math.round(value * 10) / 10

export const path = (d: string, colour: string, width: number, opacity = 1) =>
  `<path d="${d}" stroke="${colour}" stroke-width="${width}"${opacity === 1 ? "" : ` opacity="${opacity}"`}/>`

/** Spreads places over the stone, each with a digit of its own; `from` is the first digit. */
const places = ({ digit, middle }: Ground, number: number, from = 0) =>
  Array.from({ length: number }, (_, index) => {
    const at = (digits: number) => digit(from + digits)
    // The golden angle keeps neighbours apart.
    const angle = index * 2.399963 + 6.283 * at(9)
    const distance = 38 * Math.sqrt((index + 0.6) / number)
    return [
      whole(50 + distance * Math.cos(angle) + 5 * (at(index * 3 + 1) - 0.5)),
      whole(middle + 0.86 * distance * Math.sin(angle) + 5 * (at(index * 5 + 2) - 0.5)),
      at(index * 7 + 3),
    ] as const
  })

const dots = (ground: Ground, number: number, from = 0) =>
  places(ground, number, from)
    .map(([x, y]) => `M${x} ${y}h.1`)
    .join("")

/** Lines along the same slant, from edge to edge. */
const lines = ({ digit, middle }: Ground, number: number, wave: number, from = 0) =>
  Array.from({ length: number }, (_, index) => {
    const height = whole(middle - 42 + (index + 0.5 + 0.5 * digit(from + index)) * (84 / number))
    return `M-10 ${height}q30 ${whole(wave * (digit(from + index + 4) - 0.3))} 60 0t60 0`
  }).join("")

/** A shape in many places, each turned by its digit. */
const shapes = (ground: Ground, number: number, most: number, shape: (digit: number) => string) =>
  places(ground, number)
    .map(
      ([x, y, turn]) => `<g transform="translate(${x} ${y}) rotate(${whole((turn - 0.5) * most)})">${shape(turn)}</g>`,
    )
    .join("")

const turned = ({ digit, middle }: Ground, most: number, drawn: string) =>
  `<g transform="rotate(${whole((digit(10) - 0.5) * most)} 50 ${middle})">${drawn}</g>`

/** Sizes, shades and widths of the bands of an agate, which are ever smaller copies of its outline. */
const bands = [
  [0.86, "light", 3],
  [0.74, "dark", 2.4],
  [0.62, "body", 4],
  [0.48, "dark", 2.4],
  [0.36, "light", 4],
  [0.2, "dark", 5],
] as const

export const grains: Readonly<Record<string, (ground: Ground) => string>> = {
  slate: (on) =>
    turned(on, 90, path(lines(on, 9, 4), on.rock.dark, 1, 0.55) + path(lines(on, 4, 4, 9), on.rock.light, 1.2, 0.7)),
  basalt: (on) => path(dots(on, 15), on.rock.dark, 4.4, 0.9) + path(dots(on, 8, 6), "#2b292f", 2.6),
  sandstone: (on) =>
    turned(on, 50, path(lines(on, 6, 13), on.rock.dark, 2, 0.5) + path(lines(on, 5, 13, 7), on.rock.light, 2.6, 0.65)),
  "rose quartz": ({ digit, middle, rock }) => {
    const centre = `M${whole(40 + 20 * digit(5))} ${whole(middle - 10 + 20 * digit(6))}L`
    const [left, top, right, low] = [`-10 ${middle - 30}`, "40-10", `110 ${middle - 10}`, "80 110L20 110"]
    return `<path d="${centre}${left}L${top}Z${centre}${low}Z" fill="${rock.light}" opacity=".6"/><path d="${centre}${right}L80 110Z" fill="${rock.dark}" opacity=".42"/>${path([left, top, right, "80 110", "20 110"].map((end) => centre + end).join(""), "#fff", 1.2, 0.7)}`
  },
  serpentine: (on) => path(dots(on, 9), on.rock.dark, 11, 0.6) + path(dots(on, 9), on.rock.light, 4, 0.75),
  limestone: (on) =>
    shapes(on, 7, 720, () =>
      path("M-4 2a4.500 4.500 0 0 1 8 0M-2.200 2a2.300 2.300 0 0 1 4.400 0", on.rock.dark, 1.3),
    ) + path(dots(on, 10, 5), on.rock.light, 2.4),
  jasper: (on) =>
    path(dots(on, 5), on.rock.dark, 15, 0.75) +
    path(dots(on, 5), on.rock.light, 10, 0.8) +
    path(dots(on, 5), on.rock.dark, 5),
  lapis: (on) =>
    turned(on, 120, path(`M-10 ${on.middle + 8}q28-16 52-5t70-12`, "#dfe6f5", round(4 + 5 * on.digit(7)), 0.45)) +
    path(dots(on, 13), "#edc14f", 2.3) +
    path(dots(on, 6, 8), on.rock.dark, 5, 0.5),
  granite: (on) =>
    path(dots(on, 24), on.rock.dark, 2.8, 0.85) +
    path(dots(on, 19, 3), on.rock.light, 3.6) +
    path(dots(on, 11, 8), "#c98f83", 3.2),
  malachite: ({ digit, middle, rock }) => {
    const centre = `cx="${whole(20 + 60 * digit(5))}" cy="${whole(middle + (digit(6) < 0.5 ? 34 : -34))}"`
    return [12, 23, 34, 45, 56, 67, 78]
      .map(
        (radius, index) =>
          `<circle ${centre} r="${radius}" stroke="${index % 2 === 0 ? rock.dark : rock.light}" stroke-width="${whole(3 + 3 * digit(index + 2))}" opacity=".8"/>`,
      )
      .join("")
  },
  agate: ({ digit, middle, outline, rock }) => {
    const [x, y] = [42 + 16 * digit(5), middle - 6 + 12 * digit(6)]
    return bands
      .map(([size, shade, width]) => {
        const move = `translate(${whole(x * (1 - size))} ${whole(y * (1 - size))}) scale(${size})`
        const colour = shade === "body" ? "#fff4de" : rock[shade]
        return `<use href="${outline}" stroke="${colour}" stroke-width="${round(width / size)}" transform="${move}"/>`
      })
      .join("")
  },
  amethyst: (on) =>
    shapes(on, 8, 60, (digit) => {
      const fill = digit < 0.5 ? on.rock.light : on.rock.dark
      return `<path d="M0-9l5 6v8l-5 4l-5-4v-8z" fill="${fill}" stroke="${on.rock.dark}" stroke-width=".8" opacity=".75"/>`
    }),
}

/** The line colour of all drawings of the guide. */
const ink = "#3b2b20"
const quartz = "#f6f1e6"

/** A light line with a dark one around it, so that it shows on every rock. */
const inlaid = (d: string, dark: string, width: number) => path(d, dark, width + 2.4) + path(d, quartz, width)

const disc = (x: number, y: number, rx: number, ry: number, fill: string, stroke = ink, width = 1.6) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="${fill}" stroke="${stroke}" stroke-width="${width}"/>`

const spiral = (step: number, size: number) => {
  const [angle, radius] = [step * 0.5, size * (1 - step / 30)]
  return `${round(radius * Math.cos(angle))} ${round(radius * Math.sin(angle))}`
}
const coil = `M${Array.from({ length: 28 }, (_, step) => spiral(step, 12)).join("L")}`
const ribs = Array.from({ length: 13 }, (_, step) => `M${spiral(step, 14)}L${spiral(step, 9.5)}`).join("")

const frond = (step: number) => {
  const [at, reach] = [round(10 - step * 5.4), 9.5 - step * 1.6]
  return [-1, 1]
    .map((way) => `M0 ${at}q${round(way * reach * 0.7)}-1 ${round(way * reach)} ${round(-reach * 0.9)}`)
    .join("")
}
const fern = `M0 17V-18${[0, 1, 2, 3, 4].map(frond).join("")}`

const cross = ["M-70 3L-8-1L70 4", "M4-70L-1 2L5 70"].join("")

const barnacle = `<path d="M-9 5.500C-7-2-4.500-5-3.500-5h7C4.500-5 7-2 9 5.500C4 7.500-4 7.500-9 5.500z" fill="#efe8da" stroke="${ink}" stroke-width="1.6"/>${path("M-5 5Q-3.500-1-2.200-3M0 5.500V-2.500M5 5Q3.500-1 2.200-3", "#b3a78f", 1.2)}${disc(0, -4.6, 3.5, 1.9, "#4b3d33", "none")}`

/** Seen from above: cushions with the stalks that mosses lift in spring. */
const moss = ({ digit, middle }: Ground) => {
  const top = round(middle - 34 + 10 * digit(27))
  const cushions = [-38, -26, -13, 0, 13, 26, 38]
    .map(
      (x, index) =>
        `<circle cx="${50 + x}" cy="${round(top + 6 * digit(20 + index))}" r="${round(11 + 5 * digit(index + 2))}"/>`,
    )
    .join("")
  return `<g fill="#5e8a34">${cushions}</g><g fill="#8db94a" transform="translate(-1-5)">${cushions}</g>${path(`M30 ${top}q2 6 5 7M46 ${top + 6}q4 2 7 0M66 ${top + 1}q4 2 7-1`, "#4c7227", 1.4)}`
}

/** Around 0, 0, about 20 wide; turned in its place by at most so many degrees. */
const placed = (name: string, drawn: (rock: Rock, digit: Digits) => string, most = 720) => ({
  name,
  draw: ({ digit, middle, rock }: Ground) =>
    `<g transform="translate(${round(44 + 12 * digit(26))} ${round(middle - 4 + 8 * digit(27))}) rotate(${whole((digit(29) - 0.5) * most)}) scale(${round(0.95 + 0.25 * digit(28))})">${drawn(rock, digit)}</g>`,
})

type Mark = ReturnType<typeof placed>

export const marks: readonly [Mark, ...ReadonlyArray<Mark>] = [
  { name: "", draw: () => "" },
  placed("a ring", ({ dark }) => disc(0, 0, 15, 11, "none", dark, 6.6) + disc(0, 0, 15, 11, "none", quartz, 4)),
  placed(
    "an ammonite",
    ({ dark, light }) => disc(0, 0, 14.5, 14.5, light) + path(ribs, dark, 1.4) + path(coil, ink, 1.8),
  ),
  placed("a vein of quartz", ({ dark }, digit) =>
    inlaid("M-70 2L-34-2L-14 5L4-4L22 3L70-3", dark, round(3 + 2 * digit(30))),
  ),
  placed("lichen", () =>
    [
      [0, 0, 7],
      [11, 4, 4.5],
      [3, 11, 5],
      [-9, 6, 4],
      [7, -8, 3.5],
    ]
      .map(
        ([x = 0, y = 0, r = 0]) =>
          disc(x, y, r, r, "#d9b648", "#8f7420", 1.2) + disc(x, y, r * 0.45, r * 0.45, "#b98a2c", "none"),
      )
      .join(""),
  ),
  placed(
    "a hole",
    ({ dark, light }) =>
      disc(0, 0, 11, 9, dark) + disc(1, 1.5, 8, 6, "#241a14", "none") + path("M-7 7.500q8 4 15-2", light, 1.6),
  ),
  placed("a cross of quartz", ({ dark }) => inlaid(cross, dark, 2.9)),
  placed("a fern", ({ dark, light }) => path(fern, light, 4) + path(fern, dark, 2.2)),
  { name: "a cap of moss", draw: moss },
  placed(
    "barnacles",
    () =>
      [
        [-9, 3, 1],
        [3, -6, 0.8],
        [8, 7, 1.15],
      ]
        .map(([x, y, size]) => `<g transform="translate(${x} ${y}) scale(${size})">${barnacle}</g>`)
        .join(""),
    30,
  ),
  placed(
    "a star",
    ({ dark }) =>
      `<path d="M0-17L3.500-4.500L16-6L6 2L11 14L0 7L-11 14L-6 2L-16-6L-3.500-4.500z" fill="${quartz}" stroke="${dark}" stroke-width="1.8"/>`,
  ),
  placed(
    "a snail",
    () =>
      `<path d="M-17 9c2-5 6-4 9-4h16c6 0 7 4 6 6z" fill="#c9a06a" stroke="${ink}" stroke-width="1.6"/>${disc(2, 0, 9.5, 9.5, "#e3bd7b")}${path("M2 0m-5 1.500a5.500 5.500 0 1 1 9 2.500a4 4 0 0 1-6-4a2.500 2.500 0 0 1 4 .5", "#8a5a2b", 1.5)}${path("M-14 6l-3-6M-12 5.500l-1-6", ink, 1.3)}`,
    30,
  ),
]
