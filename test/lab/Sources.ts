/** The files of the checkout as texts, for tests that read them. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const root = new URL("../..", import.meta.url).pathname

export const textOf = (file: string) => readFileSync(join(root, file), "utf8")

export const jsonOf = (file: string) => JSON.parse(textOf(file))

/** Files below these folders, with the folder's name; TypeScript alone unless another ending is named. */
export const filesIn = (folders: ReadonlyArray<string>, ending = /\.ts$/u): ReadonlyArray<string> =>
  folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
    )
    .filter((file) => ending.test(file) && !file.includes("node_modules"))

/** The files and folders that a package is built from. */
export const packageFiles = [
  ".npmrc",
  "LICENSE",
  "migrations",
  "package-lock.json",
  "package.json",
  "schema",
  "src",
  "tsconfig.json",
  "tsconfig.pack.json",
]

const signs = { "&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" } as const

export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:quot|#39|lt|gt|amp);/gu, (sign) => signs[sign as keyof typeof signs])

/** All but the changelog, which shows nothing to run. */
export const documents: ReadonlyArray<string> = [
  ...readdirSync(root).filter((file) => file !== "CHANGELOG.md"),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) => join("docs", file)),
].filter((file) => file.endsWith(".md"))

interface Example {
  readonly file: string
  /** Its language and its first line; no two examples of a file begin alike. */
  readonly begins: string
  readonly language: string
  readonly text: string
}

export const examplesOf = (file: string): ReadonlyArray<Example> =>
  [...textOf(file).matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gmu)].map(
    ([, indent = "", language = "", indented = ""]) => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
      return { file, language, text, begins: text.split("\n")[0]?.trimEnd() ?? "" }
    },
  )

export const exampleOf = (file: string, begins: string) => {
  const example = examplesOf(file).find((example) => example.begins.startsWith(begins))
  if (example === undefined) throw new Error(`${file} has no example that begins with ${begins}`)
  return example.text
}

export interface Entry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export type Packages = Readonly<Record<string, Entry>>

export const packagesOf = (lock: string): Packages => jsonOf(lock).packages
