/** Copy buttons report success, or select the text for the reader to copy; share buttons open the platform's own sheet. */
import { all, renewed } from "./dom.ts"

/** The usual labels of buttons; a second press finds the label `Copied`. */
const labels = new WeakMap<Element, ReadonlyArray<Node>>()

/** False when the text is only selected and the reader still has to copy it. */
export const copyFrom = async (button: HTMLButtonElement, source: Element): Promise<boolean> => {
  const label = labels.get(button) ?? [...button.childNodes]
  labels.set(button, label)
  const copied = await navigator.clipboard?.writeText(source.textContent ?? "").then(
    () => true,
    () => false,
  )
  if (copied !== true) getSelection()?.selectAllChildren(source)
  button.textContent = copied === true ? "Copied" : "Selected"
  setTimeout(() => {
    labels.delete(button)
    button.replaceChildren(...label)
  }, 2000)
  return copied === true
}

/** Shown where the platform can share; a sheet that was closed is no failure. */
const share = () => {
  if (!("share" in navigator)) return
  for (const button of all("[data-share]", HTMLButtonElement)) {
    button.hidden = false
    button.onclick = () => void navigator.share({ url: button.dataset["share"] ?? "" }).catch(() => 0)
  }
}

export const start = () => {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-copy]") : null
    if (!(button instanceof HTMLButtonElement)) return
    const source = document.getElementById(button.dataset["copy"] ?? "")
    if (source !== null) void copyFrom(button, source)
  })
  share()
  addEventListener(renewed, share)
}
