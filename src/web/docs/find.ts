/** Filters the reference to operations whose text has all searched words. */
import { all } from "../v2/page/dom.ts"

const show = (words: ReadonlyArray<string>) => {
  let found = 0
  for (const operation of all("[data-operation]", HTMLElement)) {
    const text = (operation.textContent ?? "").toLowerCase()
    const fits = words.every((word) => text.includes(word))
    operation.hidden = !fits
    if (fits) found += 1
    for (const entry of all(`[data-entry="${operation.id}"]`, HTMLElement)) entry.hidden = !fits
  }
  for (const chapter of all("[data-chapter]", HTMLElement)) {
    if (words.length > 0 && chapter instanceof HTMLDetailsElement) chapter.open = true
    chapter.hidden = chapter.querySelector("[data-operation]:not([hidden]), [data-entry]:not([hidden])") === null
  }
  return found
}

export const start = () => {
  for (const place of all("[data-find]", HTMLElement)) {
    const field = place.querySelector("input")
    const said = document.querySelector("[data-found]")
    if (field === null || said === null) continue
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/u).filter(Boolean)
      const found = show(words)
      said.textContent =
        words.length === 0
          ? ""
          : found === 0
            ? "Nothing has these words."
            : found === 1
              ? "One operation."
              : `${found} operations.`
    })
  }
}
