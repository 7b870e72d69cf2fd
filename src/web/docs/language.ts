/** Remembers the language of the examples; the choice itself works without script. */
import { all } from "../v2/page/dom.ts"
import { browser } from "../v2/page/store.ts"

const slot = "docs:language"

export const start = () => {
  const before = browser.get(slot)
  for (const choice of all('[name="language"]', HTMLInputElement)) {
    if (choice.value === before) choice.checked = true
    choice.addEventListener("change", () => browser.set(slot, choice.value))
  }
}
