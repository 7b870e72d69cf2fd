/** Whether `dist` matches the sources, by path, size and time: every command pays for this check. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** npm writes the last one with each install. */
const sources = ["src", "schema", "migrations", "tsconfig.json", "node_modules/.package-lock.json"]
const stamp = "dist/built"

const describe = (path: string) => {
  const stats = statSync(path, { throwIfNoEntry: false })
  return `${path} ${stats?.size} ${stats?.mtimeMs}`
}

/** Changes whenever a source does. */
export const fingerprint = (root: URL) => {
  const folder = fileURLToPath(root)
  const hash = createHash("sha256")
  for (const source of sources) {
    const path = join(folder, source)
    const files = source.endsWith(".json")
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
