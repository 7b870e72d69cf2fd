/** The packed library: its two entries with all that they use, and declarations that name no other package. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { build } from "esbuild"
import { unshown } from "./build.ts"
import { declarations } from "./declarations.ts"

const entries = ["src/buyer/index", "src/cli/buyer/JournalFile"]

/** The declarations that an entry reaches. */
const reached = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  seen.add(file)
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/gu)) {
    const target = join(dirname(file), `${path}.d.ts`)
    if (!seen.has(target)) reached(target, seen)
  }
  return seen
}

/** Modules of types alone are their own declarations; the compiler would print each literal over many lines. */
const types = ["src/buyer/Library", "src/buyer/core/Account"]

/** Members without a remark share a line, as in the printed records. */
const inGroups = (text: string) =>
  text.split("\n").reduce((done, line) => {
    const last = done.slice(done.lastIndexOf("\n") + 1)
    const isShort = [last, line].every((member) => /^ +readonly [^{}(]*$/u.test(member))
    return isShort && last.length + line.length < 130
      ? `${done.replace(/;?$/u, ";")} ${line.trim()}`
      : `${done}\n${line}`
  })

/** Declarations without empty lines, and with a short remark on the line of its member. */
const tidy = (text: string) =>
  inGroups(text.replace(/\n(?=\n)/gu, ""))
    .replace(/^( *\/\*\* [^\n]* \*\/)\n *(?!\/)(\S[^\n]*)$/gmu, (both, about: string, member: string) =>
      about.length + member.length < 240 ? `${about} ${member}` : both,
    )
    .replace("export {};\n", "")

/** Replaces the compiled modules of the library below `folder` by bundles and the declarations that they need. */
export const packLibrary = async (root: string, folder: string) => {
  writeFileSync(join(folder, "src/buyer/Records.d.ts"), declarations())
  for (const name of types) cpSync(join(root, `${name}.ts`), join(folder, `${name}.d.ts`))
  const kept = new Set(entries.flatMap((entry) => [...reached(join(folder, `${entry}.d.ts`))]))
  for (const file of kept) writeFileSync(file, tidy(readFileSync(file, "utf8")))
  for (const part of ["src/buyer", "src/cli"])
    for (const entry of readdirSync(join(folder, part), { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name)
      if (entry.isFile() && !kept.has(file)) rmSync(file)
    }
  await build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => `${entry}.ts`),
    outbase: ".",
    outdir: relative(root, folder),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2023",
    external: ["node:*", ...unshown],
    chunkNames: "src/buyer/[name]-[hash]",
    legalComments: "none",
    logLevel: "warning",
  })
}
