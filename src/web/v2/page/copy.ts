/** Copy buttons report success, or select the text for the reader to copy. */

import { type ElementOf, selectorOf, valuesOf } from "./marks.ts"

/** The labels of buttons that say for a moment what they did. */
const labels = new WeakMap<HTMLButtonElement, string>()

/** False when the text is only selected and the reader still has to copy it. */
export const copyFrom = async (button: HTMLButtonElement, source: Element): Promise<boolean> => {
  const copying = navigator.clipboard?.writeText(source.textContent).then(
    () => true,
    () => false,
  )
  const copied = (await copying) ?? false
  if (!copied) getSelection()?.selectAllChildren(source)
  const label = labels.get(button) ?? button.textContent
  labels.set(button, label)
  button.textContent = copied ? "Copied" : "Selected"
  setTimeout(() => (button.textContent = label), 2000)
  return copied
}

export const start = () =>
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<ElementOf<"copy">>(selectorOf("copy")) : null
    if (button === null) return
    const source = document.getElementById(valuesOf("copy", button).copy ?? "")
    if (source !== null) void copyFrom(button, source)
  })
