/** Whether `dist` was built from the sources as they are: by path, size and time, as asking costs every command. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const sources = ["src", "schema", "migrations", "package-lock.json"]
const stamp = "dist/built"

const describe = (path: string) => {
  const { mtimeMs, size } = statSync(path)
  return `${path} ${size} ${mtimeMs}`
}

/** Changes whenever a source does. */
export const fingerprint = (root: URL) => {
  const folder = fileURLToPath(root)
  const hash = createHash("sha256")
  for (const source of sources) {
    const path = join(folder, source)
    const files = source.includes(".")
      ? [path]
      : readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .sort()
    for (const file of files) hash.update(`${describe(file)}\n`)
  }
  return hash.digest("hex")
}

export const stampOf = (root: URL) => join(fileURLToPath(root), stamp)

export const isFresh = (root: URL) => {
  try {
    return readFileSync(stampOf(root), "utf8") === fingerprint(root)
  } catch {
    return false
  }
}
