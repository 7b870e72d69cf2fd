/** Copy buttons report success, or select the text for the reader to copy. */
const select = (element: Element) => {
  const range = document.createRange()
  range.selectNodeContents(element)
  getSelection()?.removeAllRanges()
  getSelection()?.addRange(range)
}

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
  if (copied !== true) select(source)
  button.textContent = copied === true ? "Copied" : "Selected"
  setTimeout(() => {
    labels.delete(button)
    button.replaceChildren(...label)
  }, 2000)
  return copied === true
}

export const start = () => {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-copy]") : null
    if (!(button instanceof HTMLButtonElement)) return
    const source = document.getElementById(button.dataset["copy"] ?? "")
    if (source !== null) void copyFrom(button, source)
  })
}
