/** Copy buttons report success, or select the text for the reader to copy. */

/** False when the text is only selected and the reader still has to copy it. */
export const copyFrom = async (button: HTMLButtonElement, source: Element): Promise<boolean> => {
  const copying = navigator.clipboard?.writeText(source.textContent).then(
    () => true,
    () => false,
  )
  const copied = (await copying) ?? false
  if (!copied) getSelection()?.selectAllChildren(source)
  const label = (button.dataset["label"] ??= button.textContent)
  button.textContent = copied ? "Copied" : "Selected"
  setTimeout(() => (button.textContent = label), 2000)
  return copied
}

export const start = () =>
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-copy]") : null
    if (!(button instanceof HTMLButtonElement)) return
    const source = document.getElementById(button.dataset["copy"] ?? "")
    if (source !== null) void copyFrom(button, source)
  })
