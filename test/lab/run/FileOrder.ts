/** The order of test files: the longest begin first, so that no worker is left alone with one at the end. */
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * By the time they took on two quiet cores, longest first; other files are short. Those that wait most of it begin beside
 * those that calculate.
 */
const long = [
  "test/pack/pack",
  "test/integrators/integrators",
  "test/campaign/fire",
  "test/log/end-to-end",
  "test/browser/appearance",
  "test/crash/crash",
  "test/cli/buyer",
  "test/browser/guide-prayer-lost",
  "test/campaign",
  "test/pack",
  "test/agents/conformance",
  "test/contract/stopping",
  "test/integrators",
  "test/crash",
  "test/cli/sandbox",
  "test/audit",
  "test/browser",
  "test/telemetry",
  "test/nix",
  "test/payments",
  "test/log",
  "test/cli",
]

const rank = ({ moduleId }: TestSpecification) => {
  const file = relative(process.cwd(), moduleId)
  const found = long.findIndex((prefix) => file.startsWith(prefix))
  return found === -1 ? long.length : found
}

export default class FileOrder extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return [...files].sort((a, b) => rank(a) - rank(b))
  }
}
