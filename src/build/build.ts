/** Builds `dist`: the pages, and the server with all commands as one bundle; reproducible from the same sources. */
import { mkdir, rm, writeFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { build as bundle, type OutputFile } from "esbuild"
import { commit } from "./Commit.ts"
import { fingerprint, isFresh, stampOf } from "./freshness.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import { writeOutput } from "../web/output.ts"
import { build as buildPages } from "../web/build.ts"

const root = fileURLToPath(packageRoot)

/** Drops the source maps of chunks that hold only dependencies: reading them would dominate each start. */
const withoutForeignMaps = (files: ReadonlyArray<OutputFile>): ReadonlyArray<OutputFile> => {
  const foreign = new Set(
    files
      .filter(({ path, text }) => path.endsWith(".map") && !/"[./]*\/(?:src|schema|migrations)\//u.test(text))
      .map(({ path }) => path.slice(0, -".map".length)),
  )
  return files.flatMap((file) => {
    if (foreign.has(file.path.replace(/\.map$/u, ""))) {
      if (file.path.endsWith(".map")) return []
      const text = file.text.replace(/\/\/# sourceMappingURL=.*\n?$/u, "")
      return [{ ...file, text, contents: Buffer.from(text) }]
    }
    return [file]
  })
}

/** Packages that stay outside: a CommonJS package's names are unknown before it runs, and the renderer reads its own file. */
export const external = ["@takumi-rs/wasm", "undici"]

/** Pages of the framework that no server shows. Their 5 MB would be chunks all the same. */
export const unshown = ["*/httpApiScalar.js", "*/httpApiSwagger.js"]

/** Bundles `src/main.ts` into `dist/server`, with chunks for parts loaded on demand. */
const buildServer = async (target: URL) => {
  const outdir = fileURLToPath(new URL("dist/server/", target))
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: ["src/main.ts", { in: "src/pages/pictures/Worker.ts", out: "picture" }],
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    splitting: true,
    external: [...external, ...unshown],
    define: { "process.env.SOURCE_COMMIT": JSON.stringify(commit() ?? "") },
    chunkNames: "[name]-[hash]",
    sourcemap: true,
    sourcesContent: false,
    // CommonJS code needs `require`.
    banner: {
      js: `import { createRequire as $createRequire } from "node:module"; const require = $createRequire(import.meta.url);`,
    },
    legalComments: "none",
    write: false,
    logLevel: "warning",
  })
  await writeOutput(outdir, withoutForeignMaps(outputFiles))
}

/** Builds pages and server below `target`. */
export const build = async (target: URL): Promise<void> => {
  await Promise.all([buildPages(new URL("dist/web/", target)), buildServer(target)])
}

/** Serializes builds by a lock of the kernel, which frees it when its holder dies. */
const alone = async (run: () => Promise<void>) => {
  await mkdir(new URL("dist/", packageRoot), { recursive: true })
  const lock = new DatabaseSync(fileURLToPath(new URL("dist/build.lock", packageRoot)), { timeout: 600_000 })
  try {
    lock.exec("BEGIN IMMEDIATE")
    await run()
  } finally {
    lock.close()
  }
}

/** Builds the checkout unless a concurrent build just did; programs that run it never see half a file. */
export const buildCheckout = (): Promise<void> =>
  alone(async () => {
    // Taken before the build, so that a change during the build triggers the next one.
    const built = fingerprint(packageRoot)
    if (isFresh(packageRoot)) return
    await rm(stampOf(packageRoot), { force: true })
    await build(packageRoot)
    await writeFile(stampOf(packageRoot), built)
  })

if (import.meta.main) await buildCheckout()
