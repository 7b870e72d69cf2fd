/** Imports a saved file by choosing or dropping it; entries that do not hash to their commitment are rejected. */
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { memberAt, parsed } from "../../../buyer/core/Json.ts"
import { hearFiles } from "../page/dom.ts"
import { count } from "../page/durations.ts"
import { AnswerError, cannotHash, sentenceOf } from "../page/http.ts"
import { marked } from "../page/marks.ts"
import { browser } from "../page/store.ts"
import { hasRoom, type Purchase, readSigned, takeOver } from "../pay/purchase.ts"
import { type Held, type Keepsake, readHeld, restore } from "./box.ts"

/** Maximum bytes of a file, enough for thousands of sealed words. */
const largest = 4_000_000

export interface Imported {
  readonly entries: ReadonlyArray<Held>
  /** Signed payments that are still open. */
  readonly purchases: ReadonlyArray<Purchase>
  /** Entries whose salt and words do not hash to their commitment. */
  readonly refused: number
}

export const leftOut = (refused: number) =>
  refused === 0
    ? ""
    : ` Left out: ${count(refused, "entry", "entries")}, because salt and words do not match the commitment.`

const listIn = <Entry>(value: unknown, decode: (entry: unknown) => Entry | undefined): ReadonlyArray<Entry> =>
  (Array.isArray(value) ? value : []).flatMap((entry: unknown) => decode(entry) ?? [])

/** The entries whose words hash to their commitment. */
const fitting = async <Entry>(entries: ReadonlyArray<Entry>, wordsOf: (entry: Entry) => Keepsake | null) => {
  const fits = await Promise.all(
    entries.map(async (entry) => {
      const kept = wordsOf(entry)
      return kept === null || (await commitmentOf(kept.salt, kept.words)) === kept.commitment
    }),
  )
  return entries.filter((_, index) => fits[index])
}

/** Reads one keepsake, a list of them, or an exported box. */
const importedFrom = async (file: File): Promise<Imported> => {
  const value = file.size > largest ? undefined : parsed(await file.text())
  const listed = Array.isArray(value) ? value : memberAt(value, "words")
  const words = listIn(Array.isArray(listed) ? listed : [value], readHeld)
  const signed = listIn(memberAt(value, "purchases"), readSigned)
  if (words.length + signed.length === 0) throw new AnswerError("This is not a file of sealed words.")
  if (!canHash()) throw new AnswerError(cannotHash)
  const entries = await fitting(words, (entry) => entry)
  const purchases = await fitting(signed, ({ sealed }) => sealed ?? null)
  const refused = words.length - entries.length + signed.length - purchases.length
  return { entries, purchases, refused }
}

/** Keeps what a file holds in this browser, and follows its payments from now on. */
export const keep = ({ entries, purchases }: Imported) => {
  const size = 2 * JSON.stringify([entries, purchases]).length
  if (!hasRoom(() => browser.keeps(size))) throw new AnswerError("This browser has no room for them, or saves nothing.")
  purchases.forEach(takeOver)
  entries.forEach(restore)
}

/** A file may be dropped anywhere in the place. */
export const acceptImports = (
  place: HTMLElement,
  use: (imported: Imported) => void,
  fail: (message: string) => void,
) => {
  const input = marked("take", place)
  hearFiles(input, place, (file) => {
    void importedFrom(file)
      .then(use)
      .catch((error: unknown) => fail(sentenceOf(error, "It cannot be read.")))
    input.value = ""
  })
}
