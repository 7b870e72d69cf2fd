/** Builds `dist/web` reproducibly: modules bundled, styles minified, nothing left over. */
import { readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle, type Metafile } from "esbuild"
import { type Output, writeOutput } from "./output.ts"

const source = import.meta.dirname

/** Pages with a style and a module of their own. Each is bundled by itself, so none is split for another. */
const pages = ["docs", "signals", "v2"]

/** Files whose names stay: drawings that pages name, and the typeface's licence, which must accompany it. */
const isKept = (file: string) => /^[a-z0-9]+\/[a-z]+\.svg$|^style\/type\/OFL\.txt$/u.test(file)

/** Each asset by its plain name, followed by the modules that it imports: `/v2/main.js`, then its chunks. */
const assetsOf = (target: string, outputs: Metafile["outputs"]): Readonly<Record<string, ReadonlyArray<string>>> => {
  const pathOf = (output: string) => `/${relative(target, join(source, output))}`
  return Object.fromEntries(
    Object.entries(outputs).flatMap(([output, { imports }]) => {
      const path = pathOf(output)
      const asset = /^(\/(?:\w+\/page|\w+\/main|type\/[a-z-]+))-[0-9A-Z]{8}(\.\w+)$/u.exec(path)
      const modules = imports.filter(({ kind }) => kind === "import-statement").map((imported) => pathOf(imported.path))
      return asset === null ? [] : [[`${asset[1]}${asset[2]}`, [path, ...modules]]]
    }),
  )
}

/** Bundles a page's style and module, whose names change with their content. Modules loaded on demand are chunks. */
const bundlePage = (target: string) => (page: string) =>
  bundle({
    absWorkingDir: source,
    outbase: source,
    outdir: target,
    entryPoints: [`${page}/main.ts`, `${page}/page.css`],
    entryNames: "[dir]/[name]-[hash]",
    chunkNames: "chunks/[name]-[hash]",
    assetNames: "type/[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2023",
    charset: "utf8",
    loader: { ".woff2": "file" },
    external: ["/art/*"],
    write: false,
    metafile: true,
    logLevel: "warning",
  })

/** Bundles `src/web` into `folder`; returns the input files. */
export const build = async (folder: URL): Promise<ReadonlyArray<string>> => {
  const target = fileURLToPath(folder)
  const files = await readdir(source, { recursive: true })
  const built = await Promise.all(pages.map(bundlePage(target)))
  const kept = await Promise.all(
    files.filter(isKept).map(async (file): Promise<Output> => ({
      path: join(target, file.replace("style/type/", "type/")),
      contents: await readFile(join(source, file)),
    })),
  )
  const outputs = Object.fromEntries(built.flatMap(({ metafile }) => Object.entries(metafile.outputs)))
  const assets = Buffer.from(JSON.stringify(assetsOf(target, outputs)))
  // Pages share typefaces and chunks of equal content.
  const modules = new Map(built.flatMap(({ outputFiles }) => outputFiles).map((file) => [file.path, file]))
  await writeOutput(target, [...modules.values(), ...kept, { path: join(target, "assets.json"), contents: assets }])
  return built.flatMap(({ metafile }) => Object.keys(metafile.inputs))
}
