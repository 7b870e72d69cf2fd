/** Writes what a build made, so that whoever reads it meanwhile never sees half a file. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { OutputFile } from "esbuild"

const filesOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** What did not change keeps its time and its ETag. */
const replace = async ({ contents, path }: OutputFile) => {
  const present = await readFile(path).catch(() => undefined)
  if (present?.equals(contents) === true) return
  await mkdir(dirname(path), { recursive: true })
  const half = `${path}.${process.pid}.half`
  await writeFile(half, contents)
  await rename(half, path)
}

const ageMillis = (file: string) =>
  stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )

/** Replaces the files of `folder`; those of earlier builds stay for `keepMillis`, as a running program may load them still. */
export const writeOutput = async (
  folder: string,
  files: ReadonlyArray<OutputFile>,
  { keepMillis }: { readonly keepMillis: number },
): Promise<void> => {
  // Entries last: they name the chunks.
  const chunksFirst = [...files].sort(
    (a, b) => Number(/-[0-9A-Z]{8}\./u.test(b.path)) - Number(/-[0-9A-Z]{8}\./u.test(a.path)),
  )
  for (const file of chunksFirst) await replace(file)
  const built = new Set(files.map(({ path }) => path))
  for (const file of await filesOf(folder))
    if (!built.has(file) && (keepMillis === 0 || (await ageMillis(file)) > keepMillis)) await rm(file, { force: true })
}
