/** Writes the output of a build atomically, so that concurrent readers never see half a file. */
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { OutputFile } from "esbuild"
import { isForEver } from "../platform/AssetNames.ts"

export type Output = Pick<OutputFile, "contents" | "path">

const filesOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** An unchanged file keeps its time and its ETag. */
const replace = async ({ contents, path }: Output) => {
  const present = await readFile(path).catch(() => undefined)
  if (present?.equals(contents) === true) return
  await mkdir(dirname(path), { recursive: true })
  const half = `${path}.${process.pid}.half`
  await writeFile(half, contents)
  await rename(half, path)
}

const isHashed = (file: string) => isForEver(file.replace(/\.map$/u, ""))

/** Keeps a dropped file for a day for running servers and open pages; the file's times record the drop. */
const discard = async (file: string) => {
  if (!isHashed(file)) return rm(file, { force: true })
  const { atimeMs, mtimeMs } = await stat(file)
  if (atimeMs !== 0) return utimes(file, 0, Date.now() / 1000)
  if (Date.now() - mtimeMs > 86_400_000) await rm(file, { force: true })
}

export const writeOutput = async (folder: string, files: ReadonlyArray<Output>): Promise<void> => {
  // Files that name others come last.
  const chunksFirst = [...files].sort((a, b) => Number(isHashed(b.path)) - Number(isHashed(a.path)))
  for (const file of chunksFirst) await replace(file)
  const built = new Set(files.map(({ path }) => path))
  for (const file of await filesOf(folder)) if (!built.has(file)) await discard(file)
}
