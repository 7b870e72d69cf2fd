/** Builds `dist/web` reproducibly: modules bundled, styles minified, nothing left over. */
import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { basename, dirname, extname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build as bundle, type OutputFile, type Plugin } from "esbuild"
import { type Output, writeOutput } from "./output.ts"

const source = import.meta.dirname

/** Entry points: one style and one module of each page. Other modules are chunks; artwork is not bundled. */
const isEntry = (file: string) => /^[a-z0-9]+\/(?:page\.css|main\.ts|[a-z]+\.svg)$/u.test(file)

/**
 * The checks of the log and of dropped files, the hashing of files, the manual, the reference and the room are bundled alone: code shared
 * with other modules would become chunks, and every page would pay a request for each.
 */
const alone = [
  { in: "v2/proof/log.ts", out: "v2/log" },
  { in: "v2/proof/checker.ts", out: "v2/checker" },
  { in: "v2/words/file.ts", out: "v2/file" },
  "agents/main.ts",
  "docs/main.ts",
  "signals/main.ts",
]

/** Modules that every page of the guide loads anyway. */
const shared = ["page/time.ts", "pay/form.ts", "proof/reveals.ts", "proof/verify.ts", "words/seal.ts"]

/** Makes each on-demand part import these modules, so that they stay one chunk instead of one for each pair. */
const sharing: Plugin = {
  name: "sharing",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/v2\/(?:parts|pay\/parts|pay\/signer)\.ts$/ }, async ({ path }) => {
      const imports = shared.map((file) => `import ${JSON.stringify(join(source, "v2", file))}\n`)
      return { loader: "ts", contents: [...imports, await readFile(path, "utf8")].join("") }
    }),
}

/** The file lies beside the page's module; a chunk imports it from another folder. */
const leftAlone: Plugin = {
  name: "left-alone",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(?:log|checker|file)\.js$/ }, ({ path }) => ({
      path: `../v2/${path.slice(2)}`,
      external: true,
    })),
}

/** Files that a page names itself; they name all others. A file named by its content is cached forever. */
const isNamedByPages = (path: string) => /\/(?:page\.css|main\.js)$/u.test(path)

const named = ({ contents, path }: OutputFile): Output => {
  const mark = createHash("sha256").update(contents).digest("hex").slice(0, 8).toUpperCase()
  const ending = extname(path)
  return { contents, path: join(dirname(path), `${basename(path, ending)}-${mark}${ending}`) }
}

/** The hashed name of each asset: `/v2/page.css` is `/v2/page-1A2B3C4D.css`. */
const namesOf = (target: string, files: ReadonlyArray<Output>): ReadonlyMap<string, string> =>
  new Map(
    files.flatMap(({ path }) => {
      const asset = /^((?:\w+\/page|\w+\/main|type\/[a-z-]+))-[0-9A-Z]{8}(\.\w+)$/u.exec(relative(target, path))
      return asset === null ? [] : [[`/${asset[1]}${asset[2]}`, `/${asset[0]}`]]
    }),
  )

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
    assetNames: "type/[name]-[hash]",
    loader: { ".svg": "copy", ".woff2": "file" },
    external: ["/art/*"],
    plugins: [leftAlone, sharing],
  })
  const loners = await bundle({ ...common, entryPoints: alone })
  const made = [...loners.outputFiles, ...pages.outputFiles]
  const files = made.map((one) => (isNamedByPages(one.path) ? named(one) : one))
  const names = namesOf(target, files)
  await writeOutput(target, [
    ...files,
    // The typeface's licence must accompany it.
    { path: join(target, "type/OFL.txt"), contents: await readFile(join(source, "style/type/OFL.txt")) },
    { path: join(target, "assets.json"), contents: Buffer.from(JSON.stringify(Object.fromEntries(names))) },
  ])
}
