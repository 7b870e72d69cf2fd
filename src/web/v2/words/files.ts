/** Places that accept a file, to set a stone of its hash or to check a stone. */
import { hexOf } from "../../../buyer/core/Digest.ts"
import { all, button, longCode, make, one, verdict } from "../page/dom.ts"
import { hearFiles } from "../page/dropped.ts"
import { pageFailed, sentenceOf } from "../page/http.ts"
import { parts } from "../page/load.ts"

interface Hashed {
  readonly file: File
  /** Lowercase hex SHA-256. */
  readonly hash: string
}

const sizeOf = (bytes: number) =>
  bytes < 1_000_000 ? `${bytes.toLocaleString("en-US")} bytes` : `${(bytes / 1_000_000).toFixed(1)} MB`

/** Hashes the newest file that is chosen or dropped in a place, and abandons an unfinished older one. */
const accept = (
  place: HTMLElement,
  dropped: HTMLElement,
  use: (hashed: Hashed, said: HTMLElement) => void | Promise<void>,
) => {
  const input = one("[data-file]", HTMLInputElement, place)
  const said = one("[data-file-said]", HTMLElement, place)
  let newest: File | undefined
  const take = async (file: File) => {
    newest = file
    const bar = make("progress", { max: String(Math.max(1, file.size)), "aria-label": `Hashing ${file.name}` })
    said.replaceChildren(make("p", {}, `Hashing ${file.name}, ${sizeOf(file.size)}. `, bar))
    try {
      const { hashFile } = await parts.file()
      const hash = hexOf(await hashFile(file, (bytes) => (bar.value = bytes)))
      if (file === newest) await use({ file, hash }, said)
    } catch (error) {
      if (file !== newest) return
      const words = error instanceof DOMException ? "The browser cannot read this file." : sentenceOf(error, pageFailed)
      said.replaceChildren(verdict("broken", "Not hashed.", words))
    }
  }
  hearFiles(input, dropped, (file) => void take(file))
  return () => {
    newest = undefined
    input.value = ""
    said.replaceChildren()
  }
}

/** The form sends the hash instead of sealed words. */
const sealFile = (place: HTMLElement) => {
  const form = place.closest("form")
  if (form === null) return
  const field = one("[data-file-hash]", HTMLInputElement, place)
  const words = one("[data-seal]", HTMLTextAreaElement, form)
  const kind = one('[data-body="kind"]', HTMLSelectElement, form)
  const asFile = (hash: string) => {
    field.value = hash
    words.disabled = hash !== ""
    kind.value = hash === "" ? "intention" : "hash"
  }
  const forget = accept(place, form, ({ file, hash }, said) => {
    asFile(hash)
    said.replaceChildren(
      verdict("holds", "Hashed.", `Keep ${file.name} unchanged. Its fingerprint: `),
      make("p", {}, longCode(hash)),
      make(
        "p",
        { class: "doors" },
        button("Use words instead", () => {
          forget()
          asFile("")
          words.focus()
        }),
      ),
    )
  })
}

const checkFile = (place: HTMLElement) => {
  const recorded = place.dataset["fileCheck"]
  accept(place, place, ({ file, hash }, said) =>
    said.replaceChildren(
      hash === recorded
        ? verdict("holds", "This is the file.", `${file.name} has the fingerprint that this stone records.`)
        : verdict("broken", "Another file.", `${file.name} has another fingerprint: `, longCode(hash)),
    ),
  )
}

export const start = () => {
  for (const place of all("[data-file-sealed]", HTMLElement)) sealFile(place)
  for (const place of all("[data-file-check]", HTMLElement)) checkFile(place)
}
