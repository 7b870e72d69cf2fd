/** `SHA256SUMS`, the list of several files by their hashes, as `sha256sum` writes and checks it. */
import { utf8 } from "../../../schema/log/Bytes.ts"

export const sumsName = "SHA256SUMS"

/** A file by its path below the list's folder, with `/`, and its lowercase hex SHA-256. */
export interface HashedFile {
  readonly path: string
  readonly sha256: string
}

const inByteOrder = (file: HashedFile, other: HashedFile): number => {
  const [left, right] = [utf8(file.path), utf8(other.path)]
  const at = left.findIndex((byte, index) => byte !== right[index])
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1)
}

/** Whether a list of lines can name this path. */
export const isListable = (path: string): boolean => !/[\n\r\uFFFD]/u.test(path)

export const sumsOf = (files: ReadonlyArray<HashedFile>): string =>
  files
    .toSorted(inByteOrder)
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
    .join("")

/** The files of a list; undefined for any other text. */
export const filesIn = (text: string): ReadonlyArray<HashedFile> | undefined => {
  const lines = text.replace(/\n$/u, "").split("\n")
  const files = lines.flatMap((line) => {
    const [, sha256 = "", path] = /^([0-9a-f]{64}) [ *]([^\r]+)$/u.exec(line) ?? []
    return path === undefined ? [] : [{ path, sha256 }]
  })
  return files.length === lines.length ? files : undefined
}

export interface FileDifference {
  readonly path: string
  /** A changed file has another hash, a missing one is only listed, an added one is not listed. */
  readonly kind: "changed" | "missing" | "added"
}

/** Every file in which a folder differs from its list. Several files may have one path where only names are known. */
export const fileDifferences = (
  listed: ReadonlyArray<HashedFile>,
  present: ReadonlyArray<HashedFile>,
): ReadonlyArray<FileDifference> => {
  const hashes = new Map<string, Set<string>>()
  for (const { path, sha256 } of present) hashes.set(path, (hashes.get(path) ?? new Set()).add(sha256))
  const paths = new Set(listed.map(({ path }) => path))
  return [
    ...listed.flatMap(({ path, sha256 }): ReadonlyArray<FileDifference> => {
      const its = hashes.get(path)
      return its?.has(sha256) === true ? [] : [{ path, kind: its === undefined ? "missing" : "changed" }]
    }),
    ...present.flatMap(({ path }): ReadonlyArray<FileDifference> => (paths.has(path) ? [] : [{ path, kind: "added" }])),
  ]
}
