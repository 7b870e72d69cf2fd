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

/** The files and folders that a package is built from, but for its README. */
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
