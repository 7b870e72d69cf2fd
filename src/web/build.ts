/** `dist/web` is the same for the same sources: modules bundled, styles minified, pages copied, nothing left over. */
import { readdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { build as bundle } from "esbuild"
import { writeOutput } from "./output.ts"

const source = import.meta.dirname

/** What a browser asks for by name: the pages, one style and one module each; what a module loads on demand is a chunk. The artwork is served where it lies. */
const isEntry = (file: string) => /^[a-z0-9]+\/(?:index\.html|page\.css|main\.ts|[a-z]+\.svg)$/u.test(file)

/** Bundles `src/web` into `folder`. */
export const build = async (folder: URL): Promise<void> => {
  const target = fileURLToPath(folder)
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
  await writeOutput(target, outputFiles)
}
