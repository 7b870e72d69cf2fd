/** Both linters over a document with all their rules on, and what they found in one form. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { tool } from "./Workbench.ts"

export interface Finding {
  readonly rule: string
  readonly severity: string
  /** The segments of its JSON pointer, joined by spaces. */
  readonly where: string
  readonly message: string
}

interface RedoclyReport {
  readonly problems: ReadonlyArray<{
    readonly ruleId: string
    readonly severity: string
    readonly message: string
    readonly location: ReadonlyArray<{ readonly pointer: string }>
  }>
}

type SpectralReport = ReadonlyArray<{
  readonly code: string
  readonly severity: number
  readonly message: string
  readonly path: ReadonlyArray<string | number>
}>

const segments = (pointer: string) =>
  pointer
    .replace(/^#\//u, "")
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))

/** Redocly's `recommended`. */
const redocly = async (folder: string, document: string): Promise<ReadonlyArray<Finding>> => {
  const config = join(folder, "redocly.yaml")
  await writeFile(config, "extends:\n  - recommended\n")
  const { stderr, stdout } = await tool("redocly", ["lint", document, "--config", config, "--format", "json"], folder)
  if (!stdout.startsWith("{")) throw new Error(`redocly did not lint: ${stderr}`)
  const { problems }: RedoclyReport = JSON.parse(stdout)
  return problems.map(({ location, message, ruleId, severity }) => ({
    rule: ruleId,
    severity,
    where: segments(location[0]?.pointer ?? "").join(" "),
    message,
  }))
}

const severities = ["error", "warn", "information", "hint"]

/** Spectral's `spectral:oas` and the OWASP API Security Top 10 of 2023. */
const spectral = async (folder: string, document: string): Promise<ReadonlyArray<Finding>> => {
  const ruleset = join(folder, "spectral.json")
  const owasp = join(folder, "node_modules/@stoplight/spectral-owasp-ruleset/dist/ruleset.js")
  await writeFile(ruleset, JSON.stringify({ extends: ["spectral:oas", owasp] }))
  const { stderr, stdout } = await tool("spectral", ["lint", document, "-r", ruleset, "-f", "json", "-q"], folder)
  if (!stdout.startsWith("[")) throw new Error(`spectral did not lint: ${stderr}${stdout}`)
  const found: SpectralReport = JSON.parse(stdout)
  return found.map(({ code, message, path, severity }) => ({
    rule: code,
    severity: severities[severity] ?? "error",
    where: path.join(" "),
    message,
  }))
}

/** Everything found in the document at a path; `folder` holds the configuration of both. */
export const lint = async (folder: string, document: string) => [
  ...(await redocly(folder, document)),
  ...(await spectral(folder, document)),
]
