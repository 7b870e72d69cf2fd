/** Builds `dist/web` reproducibly: modules bundled, styles minified, nothing left over. */
import { readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle, type Metafile } from "esbuild"
import { type Output, writeOutput } from "./output.ts"

const source = import.meta.dirname

/** One style and one module of each page; their names change with their content. Other modules are chunks. */
const isEntry = (file: string) => /^[a-z0-9]+\/(?:page\.css|main\.ts)$/u.test(file)

/** Files whose names stay: drawings that pages name, and the typeface's licence, which must accompany it. */
const isKept = (file: string) => /^[a-z0-9]+\/[a-z]+\.svg$|^style\/type\/OFL\.txt$/u.test(file)

/** Each asset by its plain name, followed by the modules that it imports: `/v2/main.js`, then its chunks. */
const assetsOf = (target: string, { outputs }: Metafile): Readonly<Record<string, ReadonlyArray<string>>> => {
  const pathOf = (output: string) => `/${relative(target, join(source, output))}`
  return Object.fromEntries(
    Object.entries(outputs).flatMap(([output, { imports }]) => {
      const path = pathOf(output)
      const asset = /^(\/(?:\w+\/page|\w+\/main|type\/[a-z-]+))-[0-9A-Z]{8}(\.\w+)$/u.exec(path)
      const modules = imports.filter(({ kind }) => kind === "import-statement").map((one) => pathOf(one.path))
      return asset === null ? [] : [[`${asset[1]}${asset[2]}`, [path, ...modules]]]
    }),
  )
}

/** Bundles `src/web` into `folder`; returns the input files. */
export const build = async (folder: URL): Promise<ReadonlyArray<string>> => {
  const target = fileURLToPath(folder)
  const files = await readdir(source, { recursive: true })
  const { metafile, outputFiles } = await bundle({
    absWorkingDir: source,
    outbase: source,
    outdir: target,
    entryPoints: files.filter(isEntry).sort(),
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
  const kept = await Promise.all(
    files.filter(isKept).map(async (file): Promise<Output> => ({
      path: join(target, file.replace("style/type/", "type/")),
      contents: await readFile(join(source, file)),
    })),
  )
  const assets = Buffer.from(JSON.stringify(assetsOf(target, metafile)))
  await writeOutput(target, [...outputFiles, ...kept, { path: join(target, "assets.json"), contents: assets }])
  return Object.keys(metafile.inputs)
}
