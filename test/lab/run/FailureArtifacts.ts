/** Writes files of the test that runs now into the artifacts' folder, under its name. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { kept, slugOf } from "./ArtifactsFolder.ts"

/** A file of the test that runs now. */
export const fileOf = (ending: string): string => {
  mkdirSync(kept, { recursive: true })
  return join(kept, `${slugOf(expect.getState().currentTestName ?? "")}-${ending}`)
}

export const keepText = (ending: string, text: string): void => writeFileSync(fileOf(ending), text)
