/** `dist/web` is the same for the same sources: modules bundled, styles minified, pages copied, nothing left over. */
import { readdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { build as bundle, type Plugin } from "esbuild"
import { writeOutput } from "./output.ts"

const source = import.meta.dirname

/** What a browser asks for by name: the pages, one style and one module each; what a module loads on demand is a chunk. The artwork is served where it lies. */
const isEntry = (file: string) => /^[a-z0-9]+\/(?:index\.html|page\.css|main\.ts|[a-z]+\.svg)$/u.test(file)

/**
 * The checks of the log, the reference and the room stand alone: what they shared with other modules would be cut into chunks of its own, and every
 * page would pay a request for it.
 */
const alone = ["v2/log.ts", "docs/main.ts", "signals/main.ts"]

/** It lies beside the module that asks for it. */
const leftAlone: Plugin = {
  name: "left-alone",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/log\.js$/ }, ({ path }) => ({ path, external: true })),
}

/** Bundles `src/web` into `folder`. */
export const build = async (folder: URL): Promise<void> => {
  const target = fileURLToPath(folder)
  const entries = await readdir(source, { recursive: true })
  const common = {
    absWorkingDir: source,
    outbase: source,
    outdir: target,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    charset: "utf8",
    write: false,
    logLevel: "warning",
  } as const
  const pages = await bundle({
    ...common,
    entryPoints: entries.filter((file) => isEntry(file) && !alone.includes(file)).sort(),
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    loader: { ".html": "copy", ".svg": "copy" },
    external: ["/art/*"],
    plugins: [leftAlone],
  })
  const loners = await bundle({ ...common, entryPoints: alone })
  await writeOutput(target, [...loners.outputFiles, ...pages.outputFiles])
}
