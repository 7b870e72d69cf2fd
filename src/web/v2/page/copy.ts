/** Copy buttons report success, or select the text for the reader to copy; share buttons open the platform's own sheet. */
import { all } from "./dom.ts"

/** The usual labels of buttons; a second press finds the label `Copied`. */
const labels = new WeakMap<Element, ReadonlyArray<Node>>()

/** False when the text is only selected and the reader still has to copy it. */
export const copyFrom = async (button: HTMLButtonElement, source: Element): Promise<boolean> => {
  const label = labels.get(button) ?? [...button.childNodes]
  labels.set(button, label)
  const copying = navigator.clipboard?.writeText(source.textContent ?? "").then(
    () => true,
    () => false,
  )
  const copied = (await copying) ?? false
  if (!copied) getSelection()?.selectAllChildren(source)
  button.textContent = copied ? "Copied" : "Selected"
  setTimeout(() => {
    labels.delete(button)
    button.replaceChildren(...label)
  }, 2000)
  return copied
}

export const start = () => {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-copy],[data-share]") : null
    if (!(button instanceof HTMLButtonElement)) return
    const { copy = "", share } = button.dataset
    // A sheet that was closed is no failure.
    if (share !== undefined) return void navigator.share({ url: share }).catch(() => 0)
    const source = document.getElementById(copy)
    if (source !== null) void copyFrom(button, source)
  })
  if ("share" in navigator) for (const button of all("[data-share]", HTMLElement)) button.hidden = false
}
