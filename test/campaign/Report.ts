/** The report of a campaign, one format for all, and the table of the last reports in docs/testing.md. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism, cpus, loadavg } from "node:os"
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
  machine: Schema.Struct({
    cores: Schema.Int,
    /** Programs that wanted a core at the end, over the last minute. */
    load: Schema.Finite,
    /** Share of all cores' time that was in use, by whichever program. */
    busy: Schema.Finite,
    /** The most memory of the campaign's own process. */
    megabytes: Schema.Int,
  }),
  commit: Schema.NullOr(Schema.String),
})
export type Report = typeof Report.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Report))

const timesOf = () => {
  const times = cpus().map((cpu) => cpu.times)
  const sum = (of: (one: (typeof times)[number]) => number) => times.reduce((all, one) => all + of(one), 0)
  return { idle: sum(({ idle }) => idle), all: sum((one) => Object.values(one).reduce((all, part) => all + part, 0)) }
}

/** Begins to watch the machine; answers what was used of it since. */
export const machine = () => {
  const before = timesOf()
  return (): Report["machine"] => {
    const now = timesOf()
    const busy = 1 - (now.idle - before.idle) / Math.max(1, now.all - before.all)
    return {
      cores: availableParallelism(),
      load: Number((loadavg()[0] ?? 0).toFixed(1)),
      busy: Number(busy.toFixed(2)),
      megabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    }
  }
}

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

/** The first count; the report has all. */
const sumsOf = ({ counts }: Report) =>
  Object.entries(counts)
    .slice(0, 1)
    .map(([name, count]) => `${count.toLocaleString("en-US")} ${name}`)
    .join(", ")

const timeOf = ({ machine: { cores }, ms }: Report) =>
  ms < 90_000 ? `${Math.round(ms / 1000)} s on ${cores} cores` : `${Math.round(ms / 60_000)} min on ${cores} cores`

export const summary = (all: ReadonlyArray<Report>): string =>
  [
    "| `npm run campaign -- …` | violations | what was counted | time | commit |",
    "| --- | --- | --- | --- | --- |",
    ...all.map((one) =>
      [
        "",
        `\`${one.command}\``,
        one.violations.length,
        sumsOf(one),
        timeOf(one),
        `${one.began.slice(0, 10)}, ${one.commit ?? "unknown"}`,
        "",
      ]
        .join(" | ")
        .trim(),
    ),
    "",
  ].join("\n")

/** The page with the table of the reports that are kept. */
export const summarised = (text: string): string => {
  if (!between.test(text)) throw new Error(`${page} has no marks for the table of campaigns`)
  return text.replace(between, (_, begin: string, end: string) => `${begin}${summary(reports())}${end}`)
}
