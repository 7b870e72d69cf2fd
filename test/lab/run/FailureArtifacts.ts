/** Files that a failed test leaves in `test-results`, under its name: logs of servers and pictures of pages. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"

const kept = join(import.meta.dirname, "..", "..", "..", "test-results")

export const fileOf = (ending: string): string => {
  mkdirSync(kept, { recursive: true })
  const name = (expect.getState().currentTestName ?? "").toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-")
  return join(kept, `${name.slice(0, 120)}-${ending}`)
}

export const keepText = (ending: string, text: string): void => writeFileSync(fileOf(ending), text)
