/** Measures this server beside others that do the same work, in one run, turn by turn; docs/evidence.md says how to read it. */
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { type Arena, chosen, contests } from "./Contests.ts"
import { inFlight } from "./Load.ts"
import { type Figure, type Held, printTables } from "./Measure.ts"
import { type Servers, withServers } from "./Servers.ts"
import { ownTemporaryFolder, endOnSignals } from "../lab/Folders.ts"

const help = `Usage: npm run bench [-- --quick] [--only NAME,NAME]

Measures this server beside peers that do the same work: same PostgreSQL (DATABASE_URL, where databases can be created,
or our own in a temporary folder, fsync on), same doubles of facilitator and node, same load: ${inFlight} requests in
flight. Every round measures both sides, one right after the other; figures are medians of rounds.

  --only NAMES   only these contests:
${contests.map(({ name, what }) => `                   ${name.padEnd(15)} ${what}`).join("\n")}
  --equal-load   also send both sides the same rate, half of the slower one's, and compare the p99 latency of reads
  --quick        2 short rounds instead of 5
  --rounds N     N rounds, 10 at most
  --stones N     stones in the databases before anything is measured (1000)
  --help         this text
`

const { values } = parseArgs({
  options: {
    "equal-load": { type: "boolean" },
    help: { type: "boolean" },
    only: { type: "string" },
    quick: { type: "boolean" },
    rounds: { type: "string" },
    stones: { type: "string" },
  },
})
if (values.help === true) {
  console.log(help)
  process.exit(0)
}

const refuse = (sentence: string): never => {
  console.error(sentence)
  process.exit(1)
}

const whole = (name: string, text: string | undefined, fallback: number, most: number) => {
  const value = Number(text ?? fallback)
  return Number.isInteger(value) && value >= 1 && value <= most
    ? value
    : refuse(`--${name} takes a whole number from 1 to ${most}`)
}

const isQuick = values.quick === true
const held: Held = {
  isQuick,
  isEqualLoad: values["equal-load"] === true,
  rounds: whole("rounds", values.rounds, isQuick ? 2 : 5, 10),
  stones: whole("stones", values.stones, 1_000, 1_000_000),
  span: { seconds: isQuick ? 0.7 : 3 },
  say: (text) => void process.stderr.write(`${text}\n`),
}
const selected = chosen(values.only?.split(","))
ownTemporaryFolder()
endOnSignals()

type Run = (chosen: typeof selected, held: Held, servers: Servers) => Promise<ReadonlyArray<Figure>>

const arenas: Readonly<Record<Arena, () => Promise<{ readonly run: Run }>>> = {
  altar: () => import("./Altar.ts"),
  relayer: () => import("./Relayer.ts"),
  rooms: () => import("./RoomContests.ts"),
}

const figures: Array<Figure> = []
let about = ""
for (const [arena, load] of Object.entries(arenas)) {
  const here = selected.filter((contest) => contest.arena === arena)
  if (here.length === 0) continue
  try {
    const { run } = await load()
    await withServers(async (servers) => {
      about = servers.about
      figures.push(...(await run(here, held, servers)))
    })
  } catch (cause) {
    // Measurements from elsewhere still count; the run as a whole has failed.
    console.error(arena, cause)
    process.exitCode = 1
  }
}

printTables(figures)
console.log(`
${held.rounds} rounds, ${held.stones} stones; ${availableParallelism()} cores shared by servers, PostgreSQL and load generator; ${about}; Node ${process.version}.`)
process.exit()
