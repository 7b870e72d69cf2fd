/** Hashes files and folders of this machine in pieces, and refuses those that change while it reads. */
import { createHash } from "node:crypto"
import { type BigIntStats } from "node:fs"
import { open, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type HashedFile, isListable, sumsName, sumsOf } from "../../buyer/core/Sums.ts"
import { messageOf } from "../../buyer/PurchaseError.ts"
import { plain } from "../Output.ts"

/** Bytes between two lines of progress. */
const step = 128 * 1024 * 1024

export const sha256Of = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex")

const fail = (message: string) => new Error(plain(message))

/** Fails with the name of what cannot be read. */
export const unreadable =
  (path: string) =>
  (error: unknown): never => {
    throw fail(`${path} cannot be read: ${messageOf(error)}.`)
  }

/** Any write to a file, or another file in its place, changes its stamp. */
const stampOf = ({ ctimeNs, dev, ino, mtimeNs, size }: BigIntStats) => [dev, ino, size, mtimeNs, ctimeNs].join(" ")

const stampAt = (file: string) => stat(file, { bigint: true }).then(stampOf, () => "")

interface StampedFile extends HashedFile {
  readonly file: string
  readonly stamp: string
}

/** Prints a line for each eighth of a gigabyte. */
const progress = () => {
  let [hashed, shown] = [0, 0]
  return (path: string, bytes: number) => {
    hashed += bytes
    if (hashed - shown < step) return
    shown = hashed
    process.stderr.write(`${plain(`hashing     ${path}: ${Math.floor(hashed / 1_000_000)} MB so far`)}\n`)
  }
}

type Progress = ReturnType<typeof progress>

/** A regular file, hashed; `path` is its name in a list. A pipe would be waited for, so it is not opened. */
const hashAt = async (file: string, path: string, advance: Progress): Promise<StampedFile> => {
  const { isFile } = await stat(file).then((entry) => ({ isFile: entry.isFile() }), unreadable(file))
  if (!isFile) throw fail(`${file} is no regular file.`)
  const handle = await open(file).catch(unreadable(file))
  try {
    const stamp = stampOf(await handle.stat({ bigint: true }))
    const hash = createHash("sha256")
    for await (const piece of handle.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      hash.update(piece)
      advance(path, piece.length)
    }
    return { file, path, sha256: hash.digest("hex"), stamp }
  } finally {
    await handle.close()
  }
}

const assertUnchanged = async (files: ReadonlyArray<StampedFile>) => {
  for (const { file, stamp } of files)
    if ((await stampAt(file)) !== stamp)
      throw fail(`${file} changed while it was read: run this again when it is at rest.`)
}

/** The SHA-256 of one file. */
export const hashFile = async (file: string): Promise<string> => {
  const hashed = await hashAt(file, file, progress())
  await assertUnchanged([hashed])
  return hashed.sha256
}

/** The relative paths of all regular files below a folder, without the list in it; anything else is refused. */
const pathsIn = async (folder: string, below = ""): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(unreadable(join(folder, below)))
  const paths: Array<string> = []
  for (const entry of entries) {
    const path = `${below}${entry.name}`
    if (!isListable(path))
      throw fail(`${JSON.stringify(path)} in ${folder} has a name that no list of lines can hold: rename it.`)
    if (entry.isSymbolicLink())
      throw fail(`${join(folder, path)} is a link, and what it leads to may change: remove it, or put the file there.`)
    if (entry.isDirectory()) paths.push(...(await pathsIn(folder, `${path}/`)))
    else if (!entry.isFile()) throw fail(`${join(folder, path)} is no regular file: remove it.`)
    else if (path !== sumsName) paths.push(path)
  }
  return paths.sort()
}

/** Every file of a folder, hashed. */
export const hashFolder = async (folder: string): Promise<ReadonlyArray<HashedFile>> => {
  const paths = await pathsIn(folder)
  const [hashed, advance]: [Array<StampedFile>, Progress] = [[], progress()]
  for (const path of paths) hashed.push(await hashAt(join(folder, path), path, advance))
  await assertUnchanged(hashed)
  if ((await pathsIn(folder)).join("\n") !== paths.join("\n"))
    throw fail(`${folder} changed while it was read: run this again when it is at rest.`)
  return hashed
}

/** Writes the list of a folder's files into it, and returns the list's hash. A list that differs stays. */
export const listFolder = async (folder: string): Promise<string> => {
  const files = await hashFolder(folder)
  if (files.length === 0) throw fail(`${folder} holds no files to seal.`)
  const [list, sums] = [join(folder, sumsName), sumsOf(files)]
  await writeFile(list, sums, { flag: "wx" }).catch(async (error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) return unreadable(list)(error)
    if ((await readFile(list, "utf8").catch(unreadable(list))) === sums) return undefined
    throw fail(`${list} lists other files than the folder has. It was not changed: move it away, and run this again.`)
  })
  return sha256Of(sums)
}
