/** The order of test files: the longest begin first, so that no worker is left alone with one at the end. */
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** By the time they took on two quiet cores, longest first; other files are short. */
const long = [
  "test/audit/auditor",
  "test/browser/appearance",
  "test/pack/pack",
  "test/browser/first-view",
  "test/campaign/fire",
  "test/campaign/model",
  "test/payments/availability",
  "test/integrators",
  "test/pack",
  "test/browser/guide",
  "test/browser",
  "test/cli/buyer",
  "test/crash",
  "test/nix",
  "test/cli",
  "test/admin",
  "test/telemetry",
  "test/contract/stopping",
  "test/payments/cards-processes",
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
