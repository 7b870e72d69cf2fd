/** Copying says that it has copied, or selects the text for a reader to copy. */

const select = (element: Element) => {
  const range = document.createRange()
  range.selectNodeContents(element)
  getSelection()?.removeAllRanges()
  getSelection()?.addRange(range)
}

/** False when the text is only selected: its reader still has to copy it. */
export const copyFrom = async (button: HTMLButtonElement, source: Element): Promise<boolean> => {
  const label = [...button.childNodes]
  const copied = await navigator.clipboard?.writeText(source.textContent ?? "").then(
    () => true,
    () => false,
  )
  if (copied !== true) select(source)
  button.textContent = copied === true ? "Copied" : "Selected"
  setTimeout(() => button.replaceChildren(...label), 2000)
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
