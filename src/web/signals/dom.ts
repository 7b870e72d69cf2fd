/** Elements by id and of the expected kind, and new ones whose content is text alone. */

/** A page without one of its parts is a mistake of ours: it must not pass quietly. */
export const find = <E extends Element>(id: string, kind: new () => E): E => {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`The page has no ${kind.name} with the id ${id}`)
}

export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...content: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag)
  if (className !== "") element.className = className
  element.append(...content)
  return element
}

/** A drawing of the page's sprite. */
export const drawing = (name: string) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  svg.setAttribute("class", "glyph")
  svg.setAttribute("aria-hidden", "true")
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use")
  use.setAttribute("href", `#glyph-${name}`)
  svg.append(use)
  return svg
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
