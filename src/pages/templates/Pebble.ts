/** Draws a stone from its commitment, whose digits select figure, rock, bands and one mark. */
import { Html, html } from "../../platform/Html.ts"
import { type Digits, grains, type Ground, marks, path, type Rock } from "./PebbleGrain.ts"

/** Each has its colour, a darker and a lighter one. */
const rocks: readonly [Rock, ...ReadonlyArray<Rock>] = [
  { name: "slate", body: "#7b8b9c", dark: "#506072", light: "#b4c2cf" },
  { name: "basalt", body: "#615f66", dark: "#3c3a41", light: "#8f8c95" },
  { name: "sandstone", body: "#d4a869", dark: "#a4753a", light: "#efd3a2" },
  { name: "rose quartz", body: "#dca59e", dark: "#b2736d", light: "#f6dad5" },
  { name: "serpentine", body: "#7da37d", dark: "#4b704f", light: "#b9d4b2" },
  { name: "limestone", body: "#d8ceb0", dark: "#a3967a", light: "#f3ecd6" },
  { name: "jasper", body: "#b85d42", dark: "#7f3925", light: "#e2a084" },
  { name: "lapis", body: "#5a70ad", dark: "#384d82", light: "#9fb2dd" },
  { name: "granite", body: "#b3aaa6", dark: "#5f5653", light: "#efe9e4" },
  { name: "malachite", body: "#3f9275", dark: "#1d5a47", light: "#8fd0b0" },
  { name: "agate", body: "#dd8f4a", dark: "#9c5420", light: "#fbdcae" },
  { name: "amethyst", body: "#8d76b4", dark: "#5c4785", light: "#c9b8e2" },
]

const digitsOf = (commitment: string): Digits => {
  const bytes = commitment.match(/../gu)?.map((pair) => Number.parseInt(pair, 16) / 256) ?? []
  return (index) => bytes[index % bytes.length] ?? 0
}

const pick = <A>(list: readonly [A, ...ReadonlyArray<A>], digit: number): A =>
  list[Math.floor(digit * list.length)] ?? list[0]

const rockOf = (digit: Digits): Rock => pick(rocks, digit(11))
const markOf = (digit: Digits) => pick(marks, digit(12))

/** Rocks with bands of their own get no others. */
const bandsOf = (digit: Digits) =>
  ["malachite", "agate", "granite"].includes(rockOf(digit).name) ? 0 : Math.floor(digit(13) * 4)

const round = (value: number) => Math.round(value * 10) / 10

interface Figure {
  readonly name: string
  readonly wide: number
  readonly high: number
  /** The part of its width that touches the ground. */
  readonly foot: number
  /** The distance of the edge from an ellipse, by its angle. */
  readonly bulge: (angle: number) => number
}

/** Shapes of beach stones; `wide` and `high` are half of the full size. */
const figures: readonly [Figure, ...ReadonlyArray<Figure>] = [
  { name: "round", wide: 38, high: 35, foot: 0.8, bulge: () => 1 },
  { name: "egg-shaped", wide: 40, high: 32, foot: 0.8, bulge: (angle) => 1 + 0.13 * Math.cos(angle) },
  { name: "flat", wide: 42, high: 23, foot: 0.85, bulge: (angle) => 1 + 0.05 * Math.cos(2 * angle) },
  { name: "upright", wide: 28, high: 42, foot: 0.8, bulge: (angle) => 1 + 0.08 * Math.sin(angle) },
  { name: "three-cornered", wide: 41, high: 38, foot: 0.5, bulge: (angle) => 0.93 - 0.13 * Math.sin(3 * angle) },
  { name: "square", wide: 36, high: 32, foot: 0.95, bulge: (angle) => 1 - 0.1 * Math.cos(4 * angle) },
]

const figureOf = (digit: Digits): Figure => pick(figures, digit(14))

const corners = 12
const bottom = 88

/** A closed smooth line through the corners (Catmull-Rom as cubic curves), standing on the ground. */
const outline = (digit: Digits): string => {
  const { bulge, high, wide } = figureOf(digit)
  const tilt = (digit(15) - 0.5) * 0.3
  const raw = Array.from({ length: corners }, (_, index) => {
    const angle = (index / corners) * 2 * Math.PI
    const radius = bulge(angle) * (0.94 + 0.12 * digit(index))
    const [x, y] = [wide * radius * Math.cos(angle), high * radius * Math.sin(angle)]
    return [x * Math.cos(tilt) - y * Math.sin(tilt), x * Math.sin(tilt) + y * Math.cos(tilt)] as const
  })
  const lowest = Math.max(...raw.map(([, y]) => y))
  const points = raw.map(([x, y]) => [50 + x, y + bottom - lowest] as const)
  const at = (index: number) => points[(index + corners) % corners] ?? ([50, 50] as const)
  // The control points of a corner are symmetric, so SVG's `S` needs only one of them.
  const lean = (index: number, way: 1 | -1) => {
    const [before, here, after] = [at(index - 1), at(index), at(index + 1)]
    return `${round(here[0] + (way * (after[0] - before[0])) / 6)} ${round(here[1] + (way * (after[1] - before[1])) / 6)}`
  }
  const spot = (index: number) => `${round(at(index)[0])} ${round(at(index)[1])}`
  const curves = points.map(
    (_, index) => `${index === 0 ? `C${lean(0, 1)} ` : "S"}${lean(index + 1, -1)} ${spot(index + 1)}`,
  )
  return `M${spot(0)}${curves.join("")}Z`
}

const strata = (digit: Digits, colour: string, middle: number) => {
  const number = bandsOf(digit)
  const line = Array.from({ length: number }, (_, index) => {
    const height = round(middle + (index - (number - 1) / 2) * (12 + 4 * digit(16)) + 6 * (digit(17 + index) - 0.5))
    return `M-20 ${height}q35 ${round(10 * (digit(20 + index) - 0.5))} 70 0t70 0`
  }).join("")
  const turn = Math.round(70 * digit(15) - 35)
  return number === 0
    ? ""
    : `<g transform="rotate(${turn} 50 ${middle})">${path(line, colour, round(3.5 + 3 * digit(23)), 0.62)}</g>`
}

export const article = (name: string) => (/^[aeiou]/u.test(name) ? "an" : "a")

/** The pebble in words, as a searching reader would put them. */
export const pebbleWords = (commitment: string): string => {
  const digit = digitsOf(commitment)
  const bands = ["", "one band", "two bands", "three bands"][bandsOf(digit)] ?? ""
  const has = [bands, markOf(digit).name].filter((part) => part !== "")
  const stone = `${figureOf(digit).name} ${rockOf(digit).name}`
  return has.length === 0 ? `a plain ${stone}` : `${article(stone)} ${stone} with ${has.join(" and ")}`
}

/** The whole drawing, or only the parts that are visible at the size of a letter. */
type Detail = "whole" | "small"

const outlineId = (commitment: string, place: string) => `${place}-${commitment.slice(0, 16)}`

/** The id of a drawing, by which a page shows it a second time. */
export const drawingOf = (commitment: string, place: string) => `${outlineId(commitment, place)}-all`

/** `place` distinguishes two drawings of one stone on a page. */
export const pebble = (commitment: string, place = "stone", detail: Detail = "whole"): Html => {
  const digit = digitsOf(commitment)
  const rock = rockOf(digit)
  const { foot, high, wide } = figureOf(digit)
  const middle = round(bottom - high)
  const id = outlineId(commitment, place)
  const ground: Ground = { rock, digit, middle, outline: `#${id}` }
  const bands = strata(digit, digit(31) < 0.5 ? rock.dark : rock.light, middle)
  const mark = markOf(digit).draw(ground)
  const shade = `<use href="#${id}" stroke="${rock.dark}" stroke-width="12" opacity=".5" transform="translate(-3-5)"/>`
  const gleam = `M${round(50 - wide * 0.62)} ${round(middle - high * 0.3)}q${round(wide * 0.2)} ${round(-high * 0.4)} ${round(wide * 0.66)} ${round(-high * 0.43)}`
  const inside =
    detail === "small"
      ? `${bands}${mark}`
      : `${grains[rock.name]?.(ground) ?? ""}${bands}${shade}${mark}${path(gleam, "#fff", 4, 0.5)}`
  return new Html(
    `<svg class="pebble" viewBox="0 0 100 100" width="100" height="100" aria-hidden="true" focusable="false"><g id="${drawingOf(commitment, place)}"><ellipse cx="53" cy="${bottom - 1}" rx="${round(wide * foot)}" ry="5" opacity=".16"/><clipPath id="${id}-in"><path id="${id}" d="${outline(digit)}"/></clipPath><use class="pebble__body" href="#${id}" fill="${rock.body}"/><g class="pebble__inside" clip-path="url(#${id}-in)" fill="none" stroke-linecap="round" stroke-linejoin="round">${inside}</g><use class="pebble__edge" href="#${id}"/></g></svg>`,
  )
}

/** The drawing with its words, at a place that redraws it as its words are written. */
export const figure = (commitment: string, place: string): Html =>
  html`${pebble(commitment, place)}<span class="mark">${pebbleWords(commitment)}</span>`
