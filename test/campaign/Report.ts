/** The report of a campaign, one format for all, and the table of the last reports in docs/testing.md. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"

export const root = new URL("../..", import.meta.url).pathname

export const Report = Schema.Struct({
  campaign: Schema.String,
  /** The arguments that repeat it. */
  command: Schema.String,
  /** Null where nothing is drawn. */
  seed: Schema.NullOr(Schema.Int),
  began: Schema.String,
  ms: Schema.Int,
  size: Schema.Struct({ count: Schema.Int, unit: Schema.String }),
  counts: Schema.Record(Schema.String, Schema.Finite),
  violations: Schema.Array(Schema.String),
  machine: Schema.Struct({ cores: Schema.Int }),
  commit: Schema.NullOr(Schema.String),
})
export type Report = typeof Report.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Report))

/** The commit that ran, marked where files differ from it; null outside a checkout. */
export const commitNow = (): string | null => {
  try {
    const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
  } catch {
    return null
  }
}

const kept = "docs/campaigns"
export const page = "docs/testing.md"
const between = /(<!-- campaigns: begin -->\n)[^]*(<!-- campaigns: end -->)/u

/** The last report of each campaign. */
const reports = (): ReadonlyArray<Report> =>
  readdirSync(join(root, kept))
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => decode(readFileSync(join(root, kept, file), "utf8")))

/** A line of the table; of the counts it has the first, the report all. */
const rowOf = ({ began, command, commit, counts, machine: { cores }, ms, violations }: Report) => {
  const [[name, count] = ["", 0]] = Object.entries(counts)
  const time = ms < 90_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
  const when = `${began.slice(0, 10)}, ${commit ?? "unknown"}`
  return `| \`${command}\` | ${violations.length} | ${count.toLocaleString("en-US")} ${name} | ${time} on ${cores} cores | ${when} |`
}

const summary = (all: ReadonlyArray<Report>): string =>
  [
    "| `npm run campaign -- …` | violations | what was counted | time | commit |",
    "| --- | --- | --- | --- | --- |",
    ...all.map(rowOf),
    "",
  ].join("\n")

/** The page with the table of the reports that are kept. */
export const summarised = (text: string): string => {
  if (!between.test(text)) throw new Error(`${page} has no marks for the table of campaigns`)
  return text.replace(between, (_, begin: string, end: string) => `${begin}${summary(reports())}${end}`)
}
