/** `npm run stateful`: as many random stories as one likes, of a seed of one's own, with progress. */
import { parseArgs } from "node:util"
import { startVitest } from "vitest/node"

const help = `Plays random stories against real servers and compares every answer with a small model.

  npm run stateful -- --runs 200 --seed 7     so many stories of each kind, of this seed
  npm run stateful -- --only rooms            of one kind: rooms, relayer, facilitator or cards
  npm run stateful -- --only rooms --replay '[…]'   the one that a failure has printed

A story that goes wrong is made shorter and printed as sentences; the exit code is 1.`

const { values } = parseArgs({
  options: {
    help: { type: "boolean", short: "h", default: false },
    runs: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    replay: { type: "string" },
  },
})

const kinds = ["rooms", "relayer", "facilitator", "cards"]
const isOdd = !/^[1-9]\d*$/u.test(values.runs) || (values.only !== undefined && !kinds.includes(values.only))
if (values.help || isOdd) {
  console.log(isOdd ? `--runs is a number, --only one of ${kinds.join(", ")}.\n\n${help}` : help)
  process.exit(isOdd ? 2 : 0)
}

process.env["STATEFUL_PROGRESS"] = "1"
process.env["STATEFUL_RUNS"] = values.runs
process.env["STATEFUL_SEED"] = values.seed
if (values.replay !== undefined) process.env["STATEFUL_REPLAY"] = values.replay

console.log(`${values.runs} stories of each kind, seed ${values.seed}`)
const vitest = await startVitest("test", ["test/campaign/stories"], {
  watch: false,
  silent: false,
  disableConsoleIntercept: true,
  maxWorkers: 1,
  ...(values.only === undefined ? {} : { testNamePattern: values.only === "rooms" ? "signal room" : values.only }),
})
await vitest.close()
