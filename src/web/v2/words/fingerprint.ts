/** The fingerprint of a file, or of several as the list that `sha256sum` checks; files are hashed here, in pieces. */
import { hex } from "../../../../schema/log/Bytes.ts"
import { sha256 } from "../../../buyer/core/Digest.ts"
import {
  type FileDifference,
  fileDifferences,
  filesIn,
  type HashedFile,
  isListable,
  sumsName,
  sumsOf,
} from "../../../buyer/core/Sums.ts"
import { make } from "../page/dom.ts"
import { AnswerError, partFailed } from "../page/http.ts"

type Progress = (words: string) => void

/** Bytes that are read at once. */
const piece = 16 * 1024 * 1024

export const hashOf = async (file: File, progress: Progress): Promise<string> => {
  if (file.size <= piece) return sha256(await file.arrayBuffer())
  const noble = await import("@noble/hashes/sha2").catch(partFailed)
  const hash = noble.sha256.create()
  for (let at = 0; at < file.size; at += piece) {
    progress(`Hashing ${file.name}: ${Math.floor((100 * at) / file.size)} %.`)
    hash.update(new Uint8Array(await file.slice(at, at + piece).arrayBuffer()))
  }
  return hex(hash.digest())
}

export interface Fingerprint {
  /** The file's name, or that of the list. */
  readonly name: string
  readonly sha256: string
  /** The list that was made here. */
  readonly made?: string
  readonly differences: ReadonlyArray<FileDifference>
}

/** A browser knows the names of files, and no folders. */
const nameIn = ({ path, sha256: hash }: HashedFile) => ({ path: path.slice(path.lastIndexOf("/") + 1), sha256: hash })

export const fingerprintOf = async (files: ReadonlyArray<File>, progress: Progress): Promise<Fingerprint> => {
  const [file] = files
  if (file !== undefined && files.length === 1)
    return { name: file.name, sha256: await hashOf(file, progress), differences: [] }
  const list = files.find(({ name }) => name === sumsName)
  const hashed: Array<HashedFile> = []
  for (const other of files)
    if (other !== list) {
      progress(`Hashing ${other.name}.`)
      hashed.push({ path: other.name, sha256: await hashOf(other, progress) })
    }
  if (list !== undefined) {
    const listed = filesIn(await list.text())
    if (listed === undefined) throw new AnswerError(`${sumsName} is no list of hashes.`)
    const differences = fileDifferences(listed.map(nameIn), hashed)
    return { name: sumsName, sha256: await hashOf(list, progress), differences }
  }
  const odd = hashed.find(({ path }, at) => !isListable(path) || hashed.findIndex((file) => file.path === path) < at)
  if (odd !== undefined)
    throw new AnswerError(`${odd.path} cannot be listed: rename it, because its name is taken or holds a line end.`)
  const made = sumsOf(hashed)
  return { name: sumsName, sha256: await sha256(made), made, differences: [] }
}

const differs = {
  changed: "has another fingerprint than the list says.",
  missing: "is listed, and was not chosen.",
  added: "is not in the list.",
} as const

/** A line for each file that differs from its list. */
export const differing = ({ differences }: Fingerprint): ReadonlyArray<HTMLElement> =>
  differences.length === 0
    ? []
    : [
        make(
          "ul",
          { class: "small" },
          ...differences.map(({ kind, path }) => make("li", {}, make("b", {}, path), ` ${differs[kind]}`)),
        ),
      ]

/** Whether a chosen file is not as its list says; one that was not chosen is only unchecked. */
export const isBroken = ({ differences }: Fingerprint): boolean => differences.some(({ kind }) => kind !== "missing")
