/** The disk space of folders, as `du` counts it, and as documents state it. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** Counts megabytes; a file that is linked several times counts once. */
export const counter = () => {
  const seen = new Set<number>()
  const megabytesOf = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).reduce((sum, entry) => {
      const { blocks, ino } = lstatSync(join(entry.parentPath, entry.name))
      if (seen.has(ino)) return sum
      seen.add(ino)
      return sum + blocks * 512
    }, 0) / 1_000_000
  return megabytesOf
}

/** Every number of megabytes that a document names in these words, whose group `megabytes` is the number. */
export const named = (text: string, words: RegExp) =>
  [...text.matchAll(words)].map(({ groups }) => Number(groups?.["megabytes"]))

/** Near enough to plan a disk: a tenth more or less, or half a megabyte. */
export const isNear = (said: number, measured: number) => Math.abs(said - measured) <= Math.max(0.5, measured / 10)
