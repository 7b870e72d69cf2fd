/** `dist/web` is the same for the same sources: modules bundled, styles minified, pages copied, nothing left over. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle } from "esbuild"

const source = import.meta.dirname
const target = fileURLToPath(new URL("../../dist/web/", import.meta.url))

/** What a browser asks for by name: the pages, one style and one module each; what a module loads on demand is a chunk. The artwork is served where it lies. */
const isEntry = (file: string) => /^[a-z0-9]+\/(?:index\.html|page\.css|main\.ts|[a-z]+\.svg)$/u.test(file)

const filesOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** A server that runs beside the build never sees half a file, and what did not change keeps its time and its ETag. */
const replace = async (file: string, contents: Uint8Array) => {
  const present = await readFile(file).catch(() => undefined)
  if (present?.equals(contents) === true) return
  await mkdir(dirname(file), { recursive: true })
  const half = `${file}.${process.pid}.half`
  await writeFile(half, contents)
  await rename(half, file)
}

/** Bundles `src/web` into `dist/web`. */
export const build = async (): Promise<void> => {
  const entries = await readdir(source, { recursive: true })
  const { outputFiles } = await bundle({
    absWorkingDir: source,
    entryPoints: entries.filter(isEntry).sort(),
    outbase: source,
    outdir: target,
    bundle: true,
    minify: true,
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    target: "es2023",
    charset: "utf8",
    loader: { ".html": "copy", ".svg": "copy" },
    external: ["/art/*"],
    write: false,
    logLevel: "warning",
  })
  await Promise.all(outputFiles.map(({ contents, path }) => replace(path, contents)))
  const built = new Set(outputFiles.map(({ path }) => path))
  const present = await filesOf(target)
  await Promise.all(present.filter((file) => !built.has(file)).map((file) => rm(file, { force: true })))
}

if (import.meta.main) await build()
