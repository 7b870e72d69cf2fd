/** Shows salt and words to their owner to keep: there is no other copy, and they cannot be recreated. */
import { copyFrom } from "../page/copy.ts"
import { button, doors, make } from "../page/dom.ts"
import { change, held, type Keepsake } from "./box.ts"

/** A link that saves a text as a file. */
export const saving = (text: string, name: string, label: string, done: () => void, type = "application/json") => {
  const href = URL.createObjectURL(new Blob([text], { type }))
  const link = make("a", { class: "button button--main", href, download: name }, label)
  link.addEventListener("click", done)
  return link
}

export const keepsake = (kept: Keepsake, name: string, done = () => {}): HTMLElement => {
  const { commitment, salt, words } = kept
  const text = JSON.stringify({ salt, words, commitment }, null, 2)
  const code = make("code", {}, text)
  const isRevealed = held(commitment)?.revealed === true
  const note = make("p", { class: "keepsake__note", role: "status" })
  const show = (saved: boolean) => {
    note.classList.toggle("verdict--holds", saved)
    const mine = make("a", { href: "/v2/mine#box" }, "My words")
    note.replaceChildren(
      ...(saved
        ? [make("b", {}, "Saved."), " To restore your words, drop the file on ", mine, "."]
        : [
            `${isRevealed ? "They are" : "Your words are"} in this browser, under `,
            mine,
            ", until its data is cleared.",
          ]),
    )
  }
  const save = () => {
    change(commitment, { saved: true })
    show(held(commitment)?.saved === true)
    done()
  }
  // A copy is not kept anywhere yet.
  const copy: HTMLButtonElement = button("Copy", () => void copyFrom(copy, code))
  show(held(commitment)?.saved === true)
  return make(
    "div",
    { class: "keepsake" },
    make(
      "p",
      {},
      isRevealed
        ? "Everyone can read the salt and the words."
        : "Only you have your words and their salt. Save them as a file: without both, nothing can be proved.",
    ),
    doors(saving(text, `${name}.json`, "Save as a file", save), copy),
    note,
    make(
      "details",
      { class: "fold" },
      make("summary", {}, "Salt, words and commitment"),
      make("pre", { tabindex: "0", role: "region", "aria-label": "Salt, words and commitment" }, code),
    ),
  )
}
