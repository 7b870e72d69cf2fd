/** Places that accept files, to set a stone of their fingerprint or to check a stone. */
import { button, doors, hearFiles, longCode, make, verdict } from "../page/dom.ts"
import { sentenceOf } from "../page/http.ts"
import { allMarked, type ElementOf, marked, valuesOf } from "../page/marks.ts"
import { choose } from "../pay/fields.ts"
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
  const region = marked("fileSaid", place)
  let newest: ReadonlyArray<File> = []
  const take = async (files: ReadonlyArray<File>) => {
    newest = files
    const isNewest = () => files === newest
    const progress = (words: string) => isNewest() && region.replaceChildren(verdict("waits", words))
    progress(files.length === 1 ? `Hashing ${files[0]?.name}.` : `Hashing ${files.length} files.`)
    const hashing = await fingerprintOf(files, progress).catch((error: unknown) =>
      sentenceOf(error, "The browser cannot read this file."),
    )
    if (!isNewest()) return
    if (typeof hashing === "string") fail()
    region.replaceChildren(
      ...(typeof hashing === "string" ? [verdict("broken", "Not hashed.", hashing)] : use(hashing)),
    )
  }
  const open = (...files: ReadonlyArray<File>) => {
    // A file may be dropped beside a closed fold.
    place.closest("details")?.setAttribute("open", "")
    hashing = take(files)
  }
  hearFiles(marked("file", place), dropped, open, () => {
    newest = []
    region.replaceChildren()
    fail()
  })
  return region
}

/** The form sends the hash instead of sealed words. */
const sealFile = (place: HTMLElement) => {
  const form = place.closest("form")
  if (form === null) return
  const words = marked("seal", form)
  const asFile = (hash: string) => {
    marked("fileHash", place).value = hash
    if (hash !== "" || words.disabled) choose(form, "kind", hash === "" ? "intention" : "hash")
    words.disabled = hash !== ""
    words.closest(".ask")?.toggleAttribute("hidden", hash !== "")
    form.dispatchEvent(new Event("input"))
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
      ...(made === undefined ? [] : [doors(saving(made, name, "Save the list", () => {}, "application/octet-stream"))]),
      make("p", {}, "It has no salt, so anyone who has the file, or can guess it, will recognise it."),
      button("Use words instead", () => {
        marked("file", place).value = ""
        region.replaceChildren()
        asFile("")
        words.focus()
      }),
    ]
  }
  const region = accept(place, form, useFiles, () => asFile(""))
}

const checkFile = (place: ElementOf<"fileCheck">) =>
  accept(place, place, (fingerprint) => {
    const { name, sha256 } = fingerprint
    if (sha256 !== valuesOf("fileCheck", place).fileCheck)
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
  allMarked("fileSealed").forEach(sealFile)
  allMarked("fileCheck").forEach(checkFile)
}
