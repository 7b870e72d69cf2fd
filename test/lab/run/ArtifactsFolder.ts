/** The folder for what a failed test leaves, such as logs of servers and pictures of pages. */
import { join } from "node:path"

export const kept = join(import.meta.dirname, "..", "..", "..", "test-results")

/** A test's name as the beginning of a file's. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .slice(0, 120)
