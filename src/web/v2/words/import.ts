/** Imports a saved file by choosing or dropping it; entries that do not hash to their commitment are rejected. */
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { type Held, type Keepsake, readHeld, restore } from "./box.ts"
import { one } from "../page/dom.ts"
import { hearFiles } from "../page/dropped.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { cannotHash, part, AnswerError, sentenceOf } from "../page/http.ts"
import { parsed } from "../page/store.ts"
import { type Purchase, readSigned, takeOver } from "../pay/purchase.ts"

/** Maximum bytes of a file, enough for thousands of sealed words. */
const largest = 4_000_000

interface Listed {
  readonly words: ReadonlyArray<Held>
  readonly purchases: ReadonlyArray<Purchase>
}

/** Reads one keepsake, a list of them, or an exported box. */
const listed = (text: string): Listed | undefined => {
  const value = parsed(text)
  const within = Array.isArray(value) ? value : part(value, "words")
  const words = (Array.isArray(within) ? within : [value]).flatMap((entry: unknown) => readHeld(entry) ?? [])
  const open = part(value, "purchases")
  const purchases = (Array.isArray(open) ? open : []).flatMap((entry: unknown) => readSigned(entry) ?? [])
  return words.length + purchases.length === 0 ? undefined : { words, purchases }
}

/** The entries that a slow check admits. */
const kept = async <Entry>(entries: ReadonlyArray<Entry>, check: (entry: Entry) => Promise<boolean>) => {
  const fit = await Promise.all(entries.map(check))
  return entries.filter((_, index) => fit[index])
}

export interface Imported {
  readonly entries: ReadonlyArray<Held>
  /** Signed payments that are still open; they are followed from now on. */
  readonly purchases: ReadonlyArray<Purchase>
  /** Entries whose salt and words do not hash to their commitment. */
  readonly refused: number
}

export const counted = (number: number) => `${number} ${number === 1 ? "entry" : "entries"}`

export const leftOut = (refused: number) => `${counted(refused)} did not match and were left out.`

const fits = async ({ commitment, salt, words }: Keepsake) => (await commitmentOf(salt, words)) === commitment

const importAll = async ({ purchases, words }: Listed): Promise<Imported> => {
  if (!canHash()) throw new AnswerError(cannotHash)
  const entries = await kept(words, fits)
  const open = await kept(purchases, async ({ keepsake }) => keepsake === null || fits(keepsake))
  open.forEach(takeOver)
  const refused = words.length - entries.length + purchases.length - open.length
  return { entries: entries.map(restore), purchases: open, refused }
}

const notOurs = new AnswerError("This is not a file of sealed words.")

/** `[data-take]` is the file input; a file may be dropped anywhere in the place. */
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
}
