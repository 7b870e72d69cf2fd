/** Places that accept files, to set a stone of their fingerprint or to check a stone. */
import { all, button, hearFiles, longCode, make, one, verdict } from "../page/dom.ts"
import { sentenceOf } from "../page/http.ts"
import { differing, type Fingerprint, fingerprintOf, isBroken } from "./fingerprint.ts"
import { saving } from "./keepsake.ts"

let hashing: Promise<void> = Promise.resolve()

/** Resolves when the newest files of the page are hashed. */
export const hashed = () => hashing

/** Hashes the newest files that are chosen or dropped in a place; `fail` drops earlier ones, also when they are removed. */
const accept = (
  place: HTMLElement,
  dropped: HTMLElement,
  use: (fingerprint: Fingerprint) => ReadonlyArray<Node>,
  fail = () => {},
) => {
  const said = one("[data-file-said]", HTMLElement, place)
  let newest: ReadonlyArray<File> = []
  const take = async (files: ReadonlyArray<File>) => {
    newest = files
    const isNewest = () => files === newest
    const progress = (words: string) => isNewest() && said.replaceChildren(verdict("waits", words))
    progress(files.length === 1 ? `Hashing ${files[0]?.name}.` : `Hashing ${files.length} files.`)
    const hashing = await fingerprintOf(files, progress).catch((error: unknown) =>
      sentenceOf(error, "The browser cannot read this file."),
    )
    if (!isNewest()) return
    if (typeof hashing === "string") fail()
    said.replaceChildren(...(typeof hashing === "string" ? [verdict("broken", "Not hashed.", hashing)] : use(hashing)))
  }
  const open = (...files: ReadonlyArray<File>) => {
    // A file may be dropped beside a closed fold.
    place.closest("details")?.setAttribute("open", "")
    hashing = take(files)
  }
  hearFiles(one("[data-file]", HTMLInputElement, place), dropped, open, () => {
    newest = []
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
  const useFiles = (fingerprint: Fingerprint) => {
    const { differences, made, name, sha256 } = fingerprint
    if (differences.length > 0) {
      asFile("")
      return [verdict("broken", "Not as listed.", `Mend ${name}, or leave it out.`), ...differing(fingerprint)]
    }
    asFile(sha256)
    const kept = made === undefined ? name : `these files and ${name}, the list of their fingerprints,`
    return [
      verdict("holds", "Hashed.", `Keep ${kept} unchanged: it is the proof. Its fingerprint: `, longCode(sha256)),
      ...(made === undefined
        ? []
        : [
            make(
              "p",
              { class: "doors" },
              saving(made, name, "Save the list", () => {}, "application/octet-stream"),
            ),
          ]),
      make("p", {}, "It has no salt, so anyone who has the file, or can guess it, will recognise it."),
      button("Use words instead", () => {
        one("[data-file]", HTMLInputElement, place).value = ""
        said.replaceChildren()
        asFile("")
        words.focus()
      }),
    ]
  }
  const said = accept(place, form, useFiles, () => asFile(""))
}

const checkFile = (place: HTMLElement) =>
  accept(place, place, (fingerprint) => {
    const { name, sha256 } = fingerprint
    if (sha256 !== place.dataset["fileCheck"])
      return [
        verdict(
          "broken",
          "Another file.",
          `${name} has another fingerprint, as a copy with changed line ends has: `,
          longCode(sha256),
        ),
      ]
    return isBroken(fingerprint)
      ? [verdict("broken", "Not these files.", `This stone records ${name}.`), ...differing(fingerprint)]
      : [
          verdict("holds", "This is the file.", `${name} has the fingerprint that this stone records.`),
          ...differing(fingerprint),
        ]
  })

export const start = () => {
  all("[data-file-sealed]", HTMLElement).forEach(sealFile)
  all("[data-file-check]", HTMLElement).forEach(checkFile)
}
