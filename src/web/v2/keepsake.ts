/** Salt and words are shown to their owner to keep: nobody else has them, and nobody can make them again. */
import { copyFrom } from "./copy.ts"
import { button, make } from "./dom.ts"

export interface Keepsake {
  readonly salt: string
  readonly words: string
  readonly commitment: string
}

export const keepsake = (kept: Keepsake, name = "sealed-words"): HTMLElement => {
  const text = JSON.stringify(kept, null, 2)
  const code = make("code", {}, text)
  const copy: HTMLButtonElement = button("Copy", () => void copyFrom(copy, code))
  const file = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  return make(
    "div",
    { class: "keepsake" },
    make(
      "p",
      {},
      make("b", {}, "Keep this."),
      " Only you have the salt and the words. Without them nothing can be revealed.",
    ),
    make("pre", { tabindex: "0", role: "region", "aria-label": "Salt, words and commitment" }, code),
    make(
      "p",
      { class: "doors" },
      copy,
      make("a", { class: "button", href: file, download: `${name}.json` }, "Save as a file"),
    ),
  )
}
