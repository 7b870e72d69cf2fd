/** The end of a run's report: for each failure its promise, its files, and the command that runs it alone. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { UserConsoleLog } from "vitest"
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node"
import { kept, slugOf } from "./ArtifactsFolder.ts"

/** The promise as a sentence: the names of its groups and its own. */
const namesOf = (test: TestCase): ReadonlyArray<string> => {
  const names = [test.name]
  let parent: TestSuite | TestModule = test.parent
  while (parent.type === "suite") {
    names.unshift(parent.name)
    parent = parent.parent
  }
  return names
}

const quoted = (name: string) => `'${name.replaceAll(/[$()*+.?[\\\]^{|}]/gu, "\\$&").replaceAll("'", ".")}'`

/** The command of its project. */
const commandOf = ({ project }: TestModule) => (project.name === "deep" ? "npm run test:deep" : "npm test")

const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""

export default class FailureReporter implements Reporter {
  readonly #logs = new Map<string, Array<string>>()

  onInit() {
    rmSync(kept, { recursive: true, force: true })
  }

  onUserConsoleLog({ content, taskId = "" }: UserConsoleLog) {
    const log = this.#logs.get(taskId) ?? []
    this.#logs.set(taskId, log)
    log.push(content)
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>) {
    const failures = modules.flatMap((one) => [...one.children.allTests("failed")])
    for (const test of failures) {
      const file = relative(process.cwd(), test.module.moduleId)
      const names = namesOf(test)
      const log = [test.id, test.module.id].flatMap((id) => this.#logs.get(id) ?? []).join("")
      const errors = test.result().errors ?? []
      mkdirSync(kept, { recursive: true })
      writeFileSync(
        join(kept, `${slugOf(names.join(" "))}.log`),
        `${errors.map(({ stack }) => stack).join("\n")}\n${log}`,
      )
      process.stdout.write(
        [
          "",
          `Broken: ${names.join(" ")}`,
          `  why    ${firstLine(errors[0]?.message ?? "it did not end in time")}`,
          `  kept   ${relative(process.cwd(), kept)}/${slugOf(names.join(" "))}*`,
          `  alone  ${commandOf(test.module)} -- ${file} -t ${quoted(names.join(" "))}`,
          "",
        ].join("\n"),
      )
    }
  }
}
