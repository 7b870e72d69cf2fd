/** `npm run bench`: measures this server beside others that do the same work, turn by turn (docs/evidence.md). */
import { parseArgs } from "node:util"
import { endOnSignals, ownTemporaryFolder } from "../lab/Folders.ts"
import { type Figure, type Held, printTable } from "./Measure.ts"
import { type Servers, withServers } from "./Servers.ts"

type Run = (chosen: ReadonlyArray<string>, held: Held, servers: Servers) => Promise<ReadonlyArray<Figure>>

/** The contests, by the servers that they need. */
const arenas: ReadonlyArray<readonly [contests: ReadonlyArray<string>, load: () => Promise<{ readonly run: Run }>]> = [
  [["spirits", "list", "segment", "bare402", "keyed402", "paid"], () => import("./Altar.ts")],
  [["relayer"], () => import("./Relayer.ts")],
  [["poll0", "poll10", "send100", "send10000"], () => import("./RoomContests.ts")],
]

const help = `Usage: npm run bench [-- --only NAME,NAME]

Measures this server beside peers that do the same work, on the PostgreSQL of DATABASE_URL or one of its own.

  --only NAMES   of ${arenas.flatMap(([contests]) => contests).join(", ")}
  --equal-load   also compare latencies and processor time at half of the slower side's rate
  --rounds N     5 unless named

Example: npm run bench -- --only spirits,keyed402 --equal-load`

const { values } = parseArgs({
  options: {
    help: { type: "boolean" },
    "equal-load": { type: "boolean", default: false },
    only: { type: "string", default: arenas.flatMap(([contests]) => contests).join() },
    rounds: { type: "string", default: "5" },
  },
})
if (values.help === true) {
  console.log(help)
  process.exit()
}
const held: Held = {
  isEqualLoad: values["equal-load"],
  rounds: Number(values.rounds),
  say: (text) => void process.stderr.write(`${text}\n`),
}
const only = values.only.split(",")
ownTemporaryFolder()
endOnSignals()

const figures: Array<Figure> = []
for (const [contests, load] of arenas) {
  const chosen = contests.filter((name) => only.includes(name))
  if (chosen.length === 0) continue
  const { run } = await load()
  figures.push(...(await withServers((servers) => run(chosen, held, servers))))
}
printTable(figures)
process.exit()
