/** The box of sealed words: salts and words in this browser by commitment, stored before anything is paid. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { browser } from "../page/store.ts"

export interface Keepsake {
  readonly salt: string
  readonly words: string
  readonly commitment: string
}

/** The act that sealed the words, once it is settled. */
export interface SealedFor {
  readonly title: string
  readonly path: string
  readonly payer: string | null
  /** Whether its page can reveal the words; a prayer's cannot. */
  readonly mayReveal?: boolean
}

export interface Held extends Keepsake {
  /** RFC 3339, when this browser got them. */
  readonly keptAt: string
  /** Whether their owner saved or copied them. */
  readonly saved: boolean
  /** Whether this browser revealed them, and everyone can read them. */
  readonly revealed: boolean
  readonly deed: SealedFor | null
}

const prefix = "altar:words:"
const slotOf = (commitment: string) => `${prefix}${commitment}`

const textOf = (value: unknown, name: string): string | undefined => {
  const text = memberAt(value, name)
  return typeof text === "string" ? text : undefined
}

/** A file may come from anywhere, so its links may lead only to acts of this site. */
const deedOf = (value: unknown): SealedFor | null => {
  const [title, path, payer] = [textOf(value, "title"), textOf(value, "path"), textOf(value, "payer")]
  return title === undefined || path === undefined || !/^\/(?:acts|witness)\/[0-9a-f-]{36}$/u.test(path)
    ? null
    : {
        title,
        path,
        payer: payer !== undefined && /^0x[0-9a-fA-F]{40}$/u.test(payer) ? payer : null,
        mayReveal: path.startsWith("/witness/") || memberAt(value, "mayReveal") === true,
      }
}

/** One entry of the box or of a saved file; undefined when it is none. */
export const readHeld = (value: unknown): Held | undefined => {
  const [salt, words, commitment] = [textOf(value, "salt"), textOf(value, "words"), textOf(value, "commitment")]
  if (salt === undefined || words === undefined || commitment === undefined) return undefined
  if (!/^[0-9a-f]{64}$/u.test(commitment)) return undefined
  return {
    salt,
    words,
    commitment,
    keptAt: textOf(value, "keptAt") ?? new Date().toISOString(),
    saved: memberAt(value, "saved") === true,
    revealed: memberAt(value, "revealed") === true,
    deed: deedOf(memberAt(value, "deed")),
  }
}

const heldAt = (slot: string): Held | undefined => readHeld(browser.json(slot))

const write = (entry: Held): Held => {
  browser.set(slotOf(entry.commitment), JSON.stringify(entry))
  return entry
}

export const held = (commitment: string): Held | undefined => heldAt(slotOf(commitment))

/** An entry that is already there stays as it is. */
export const hold = ({ commitment, salt, words }: Keepsake): Held =>
  held(commitment) ??
  write({ salt, words, commitment, keptAt: new Date().toISOString(), saved: false, revealed: false, deed: null })

/** Restores an entry from a saved file and marks it as saved; an act that either side knows stays known. */
export const restore = (entry: Held): Held => {
  const here = held(entry.commitment)
  const revealed = entry.revealed || here?.revealed === true
  return write({ ...entry, saved: true, revealed, deed: entry.deed ?? here?.deed ?? null })
}

export const change = (commitment: string, changed: Partial<Pick<Held, "saved" | "revealed" | "deed">>) => {
  const entry = held(commitment)
  if (entry !== undefined) write({ ...entry, ...changed })
}

export const drop = (commitment: string) => browser.remove(slotOf(commitment))

/** Newest first. */
export const everything = (): ReadonlyArray<Held> =>
  browser
    .slots()
    .flatMap((slot) => (slot.startsWith(prefix) ? (heldAt(slot) ?? []) : []))
    .toSorted((left, right) => right.keptAt.localeCompare(left.keptAt))

/** All entries and open payments as one file, which can be imported. */
export const exported = (words: ReadonlyArray<Held>, purchases: ReadonlyArray<object>): string =>
  JSON.stringify({ kind: "spirit-altar-sealed-words", version: 1, from: location.origin, words, purchases }, null, 2)
