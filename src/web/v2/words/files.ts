/** Places that accept a file, to set a stone of its hash or to check a stone. */
import { sha256 } from "../../../buyer/core/Digest.ts"
import { all, button, hearFiles, longCode, make, one, verdict } from "../page/dom.ts"

let hashing: Promise<void> = Promise.resolve()

/** Resolves when the newest file of the page is hashed. */
export const hashed = () => hashing

/** Hashes the newest file that is chosen or dropped in a place; `fail` drops an earlier one, also when it is removed. */
const accept = (
  place: HTMLElement,
  dropped: HTMLElement,
  use: (file: File, hash: string) => ReadonlyArray<Node>,
  fail = () => {},
) => {
  const said = one("[data-file-said]", HTMLElement, place)
  let newest: File | undefined
  const take = async (file: File) => {
    newest = file
    said.replaceChildren(verdict("waits", `Hashing ${file.name}.`))
    const hash = await file.arrayBuffer().then(sha256, () => undefined)
    if (file !== newest) return
    if (hash === undefined) fail()
    said.replaceChildren(
      ...(hash === undefined
        ? [verdict("broken", "Not hashed.", "The browser cannot read this file.")]
        : use(file, hash)),
    )
  }
  const open = (file: File) => {
    // A file may be dropped beside a closed fold.
    place.closest("details")?.setAttribute("open", "")
    hashing = take(file)
  }
  hearFiles(one("[data-file]", HTMLInputElement, place), dropped, open, () => {
    newest = undefined
    said.replaceChildren()
    fail()
  })
  return said
}

/** The form sends the hash instead of sealed words. */
const sealFile = (place: HTMLElement) => {
  const form = one("form:has([data-file-sealed])", HTMLFormElement)
  const words = one("[data-seal]", HTMLTextAreaElement, form)
  const kind = one('[data-body="kind"]', HTMLSelectElement, form)
  const asFile = (hash: string) => {
    one("[data-file-hash]", HTMLInputElement, place).value = hash
    if (hash !== "" || words.disabled) kind.value = hash === "" ? "intention" : "hash"
    words.disabled = hash !== ""
    words.closest(".ask")?.toggleAttribute("hidden", hash !== "")
  }
  const useFile = (file: File, hash: string) => {
    asFile(hash)
    return [
      verdict("holds", "Hashed.", `Keep ${file.name} unchanged: it is the proof. Its fingerprint: `, longCode(hash)),
      make("p", {}, "It has no salt, so anyone who has the file, or can guess it, will recognise it."),
      button("Use words instead", () => {
        one("[data-file]", HTMLInputElement, place).value = ""
        said.replaceChildren()
        asFile("")
        words.focus()
      }),
    ]
  }
  const said = accept(place, form, useFile, () => asFile(""))
}

const checkFile = (place: HTMLElement) =>
  accept(place, place, (file, hash) => [
    hash === place.dataset["fileCheck"]
      ? verdict("holds", "This is the file.", `${file.name} has the fingerprint that this stone records.`)
      : verdict(
          "broken",
          "Another file.",
          `${file.name} has another fingerprint, as a copy with changed line ends has: `,
          longCode(hash),
        ),
  ])

export const start = () => {
  all("[data-file-sealed]", HTMLElement).forEach(sealFile)
  all("[data-file-check]", HTMLElement).forEach(checkFile)
}
