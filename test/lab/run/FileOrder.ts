/** The order of test files: the longest begin first, so that no worker is left alone with one at the end. */
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * By the time they took on two quiet cores, longest first; other files are short. Those that wait most of it begin beside
 * those that calculate.
 */
const long = [
  "test/browser/appearance",
  "test/browser/first-view",
  "test/campaign/fire",
  "test/pack/pack",
  "test/crash/crash",
  "test/browser/guide-prayer-lost",
  "test/campaign/hostile/slow",
  "test/integrators",
  "test/pack",
  "test/browser/room-log",
  "test/contract/stopping",
  "test/cli/buyer",
  "test/crash",
  "test/cli/second-sandbox",
  "test/browser/guide",
  "test/audit/auditor",
  "test/campaign/model",
  "test/browser",
  "test/payments/availability",
  "test/log/end-to-end",
  "test/telemetry",
  "test/cli",
  "test/campaign",
  "test/nix",
  "test/admin",
  "test/payments/faults",
  "test/payments/used-authorizations",
  "test/buyer",
  "test/payments",
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
