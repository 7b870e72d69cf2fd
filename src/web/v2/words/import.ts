/** Imports a saved file by choosing, dropping or pasting; entries that do not hash to their commitment are rejected. */
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { type Held, readHeld, restore } from "./box.ts"
import { one } from "../page/dom.ts"
import { hearFiles } from "../page/dropped.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { cannotHash, part, AnswerError, sentenceOf } from "../page/http.ts"
import { parsed } from "../page/store.ts"

/** Maximum bytes of a file, enough for thousands of sealed words. */
const largest = 4_000_000

/** Reads one keepsake, a list of them, or an exported box. */
const listed = (text: string): ReadonlyArray<Held> | undefined => {
  const value = parsed(text)
  const within = Array.isArray(value) ? value : part(value, "words")
  const found = (Array.isArray(within) ? within : [value]).flatMap((entry: unknown) => readHeld(entry) ?? [])
  return found.length === 0 ? undefined : found
}

export interface Imported {
  readonly entries: ReadonlyArray<Held>
  /** Entries whose salt and words do not hash to their commitment. */
  readonly refused: number
}

export const counted = (number: number) => `${number} ${number === 1 ? "entry" : "entries"}`

export const leftOut = (refused: number) => `${counted(refused)} did not hash to the commitment and were left out.`

const importAll = async (found: ReadonlyArray<Held>): Promise<Imported> => {
  if (!canHash()) throw new AnswerError(cannotHash)
  const checked = await Promise.all(
    found.map(async (entry) => ((await commitmentOf(entry.salt, entry.words)) === entry.commitment ? [entry] : [])),
  )
  const entries = checked.flat()
  return { entries: entries.map(restore), refused: found.length - entries.length }
}

const notOurs = new AnswerError("That is no file of sealed words: it has no salt, words and commitment.")

/** `[data-take]` is the file input; a file may be dropped, and a text pasted, anywhere in the place. */
export const acceptImports = (
  place: HTMLElement,
  use: (imported: Imported) => void,
  fail: (message: string) => void,
) => {
  const input = one("[data-take]", HTMLInputElement, place)
  const settle = (work: Promise<Imported>) =>
    void work.then(use, (error: unknown) => fail(sentenceOf(error, "It cannot be read.")))
  const read = async (file: File) => {
    const found = file.size > largest ? undefined : listed(await file.text())
    if (found === undefined) throw notOurs
    return importAll(found)
  }
  hearFiles(input, place, (file) => {
    settle(read(file))
    input.value = ""
  })
  place.addEventListener("paste", (event) => {
    const found = listed(event.clipboardData?.getData("text/plain") ?? "")
    if (found === undefined) return
    event.preventDefault()
    settle(importAll(found))
  })
}
