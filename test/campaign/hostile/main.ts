/** `npm run hostile`: hostile requests against a real server, and what its memory and its answers have shown. */
import { parseArgs } from "node:util"
import { cpuSeconds } from "../../lab/ProcessUse.ts"
import { campaign } from "./Campaign.ts"
import { open, type Sample } from "./Target.ts"

if (process.argv[2] === "flood") await import("./flooding.ts")

const help = `Sends hostile requests to a real server and holds every answer against the document.

  npm run hostile -- --requests 1000000 --seed 7 --connections 16
  npm run hostile -- flood --help     floods of connections and rooms from many addresses

  --stones N     sold before it begins (2000)
  --node=FLAG    for the server's Node, such as --max-semi-space-size=8; may be repeated
  --every N      requests between two looks at the server's memory (10000)

Exit code 1: an answer of 500 or more (503 as the document has it is counted apart), one that the document
does not know, one that never came, memory above 350 MB, or memory that grew by more than a tenth after
the first 100,000 requests.`

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h", default: false },
    requests: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    connections: { type: "string", default: "16" },
    stones: { type: "string", default: "2000" },
    node: { type: "string", multiple: true, default: [] },
    every: { type: "string", default: "10000" },
  },
})
const number = (name: "requests" | "connections" | "stones" | "every") => {
  if (/^[1-9]\d*$/u.test(values[name])) return Number(values[name])
  console.error(`--${name} is a number from 1 on.\n\n${help}`)
  return process.exit(2)
}
if (values.help) {
  console.log(help)
  process.exit(0)
}

/** MB of resident memory at most. */
const most = 350
/** A million takes minutes: an answer that takes longer than this is none. */
const patience = 60_000

const [requests, connections, every] = [number("requests"), number("connections"), number("every")]
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
console.log(`seed ${values.seed}, ${requests} requests over ${connections} connections`)
const target = await open(number("stones"), values.node)
const samples: Array<Sample & { readonly done: number }> = []
const began = performance.now()
const look = async (done: number) => {
  const sample = { done, ...(await target.sample()) }
  samples.push(sample)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(
    `${String(done).padStart(9)}  ${sample.resident.toFixed(0)} MB resident, ${sample.files} open files, ${seconds} s`,
  )
}
const collect = async () => {
  const { external, heap } = await target.used()
  console.log(`           after a collection ${heap.toFixed(0)} MB in use, ${external.toFixed(0)} MB beside`)
}
await look(0)
let next = every
const report = await campaign({
  url: target.url,
  requests,
  seed: values.seed,
  connections,
  patience,
  progress: async (done) => {
    if (done < next) return
    next += every
    await look(done)
  },
})
await look(report.requests)
const took = (performance.now() - began) / 1000
const [theirs, ours] = [cpuSeconds(target.pid), cpuSeconds(process.pid)]
await collect()
await target.close()

const counts = (map: ReadonlyMap<string, number>) =>
  [...map].sort(([one], [other]) => one.localeCompare(other)).map(([name, count]) => `  ${name.padEnd(24)} ${count}`)
const faults = [...report.faults]
/** Until then caches fill. */
const warm = samples.find(({ done }) => done >= 100_000)
const last = samples.at(-1)
const highest = Math.max(...samples.map(({ resident }) => resident))
if (highest > most) faults.push(`memory: ${highest.toFixed(0)} MB, above ${most}`)
if (warm !== undefined && last !== undefined && last.resident > warm.resident * 1.1)
  faults.push(
    `memory: ${warm.resident.toFixed(0)} MB after ${warm.done}, ${last.resident.toFixed(0)} MB after ${last.done}`,
  )
if (warm !== undefined && last !== undefined && last.files > warm.files + 8)
  faults.push(`files: ${warm.files} after ${warm.done}, ${last.files} after ${last.done}`)
/** Answers by the first digit of their status. */
const classes = [...Map.groupBy(report.statuses, ([status]) => `${status.slice(0, 1)}xx`)]
  .map(([name, all]) => `${name} ${all.reduce((sum, [, count]) => sum + count, 0)}`)
  .sort()
const held = (sample: Sample | undefined) =>
  sample === undefined ? "not reached" : `${sample.resident.toFixed(0)} MB resident, ${sample.files} open files`
const rows = [
  ["requests", `${report.requests}, ${report.broken} of them no HTTP`],
  ["time", `${took.toFixed(0)} s, ${(report.requests / took).toFixed(0)} requests a second`],
  ["processor time", `${theirs.toFixed(0)} s of the server, ${ours.toFixed(0)} s of this command`],
  ["answers", classes.join(", ")],
  ["held against the document", `${report.judged} with their headers, their ${report.bodies} different bodies`],
  ["after 100,000 requests", held(warm)],
  ["at the end", held(last)],
  ["highest", `${highest.toFixed(0)} MB resident`],
]
console.log(
  [
    ...rows.map(([name = "", value]) => `${name.padEnd(26)} ${value}`),
    "answers by status",
    ...counts(report.statuses),
    "not available, by reason",
    ...counts(report.unavailable),
    faults.length === 0 ? "No fault." : `${faults.length} faults`,
    ...faults.map((fault) => `  ${fault}`),
  ].join("\n"),
)
process.exit(faults.length > 0 ? 1 : 0)
