/** Elements by id, the page's drawings, and counts and times in words. */
import { find as findIn } from "../v2/page/dom.ts"

export const find = <E extends Element>(id: string, kind: new () => E): E => findIn(`#${id}`, kind)

/** A copy of a drawing of the page's sprite. */
export const drawing = (name: string) => findIn(`svg:has(> use[href="#glyph-${name}"])`, SVGElement).cloneNode(true)

/** A live region speaks on every write, so only changes are written. */
export const say = (id: string, words: string) => {
  const element = find(id, HTMLElement)
  if (element.textContent !== words) element.textContent = words
}

/** Characters as the room counts them. */
export const lengthOf = (text: string) => [...text.trim()].length

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const

/** A wait in words, in the largest unit of which there are nearly two. */
export const inTime = (seconds: number) => {
  const [size, unit] = units.find(([size]) => seconds >= 1.5 * size) ?? [1, "second"]
  const count = Math.max(1, Math.round(seconds / size))
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

const minute = { weekday: "short", hour: "2-digit", minute: "2-digit" } as const

/** `Sat 05:17`, by the visitor's clock, within the week that a room lasts. */
export const timeOf = (iso: string) => new Date(iso).toLocaleString("en-GB", minute)

/** `Sat 29 Nov, 05:17 CET`, with the zone of the visitor's clock. */
export const endOf = (iso: string) =>
  new Date(iso).toLocaleString("en-GB", { ...minute, day: "numeric", month: "short", timeZoneName: "short" })
