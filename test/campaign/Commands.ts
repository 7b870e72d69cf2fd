/** The campaigns as commands: their effects, and their flags beside the shared ones. */
import { Command } from "effect/cli"
import { on } from "../../src/cli/Define.ts"
import { campaign, text, whole } from "./Options.ts"

const listed = (names: string) => {
  console.log(names)
  return process.exit(0)
}

const fire = campaign("fire", {
  says: "Buys acts of every kind from real servers while seeded faults strike: servers and databases killed, statements refused, nodes, facilitators and card processors that lie, blocks orphaned, outsiders. Then an auditor compares chain, database, public API and every answer. docs/fire.md says more.",
  examples: [
    ["fire", "1,000 purchases and 20 kills, about ten minutes"],
    ["fire --size 10000 --minutes 60", "The long one"],
    ["fire --seed 7 --phase 4 --keep /tmp/four", "One phase again, with its logs"],
    ["fire --size 24 --kills 2 --no-proxy", "A minute"],
    ["fire --size 100 --kills 2 --only failover", "PostgreSQL killed twice, its synchronous standby promoted"],
  ],
  size: { unit: "purchases", usual: 1_000 },
  minutes: { says: "Begin no phase after so many minutes" },
  leavesLogs: true,
  flags: {
    kills: whole("kills", "Servers and databases killed in all (a fiftieth of the purchases)", 0),
    servers: whole("servers", "Servers on one database; otherwise each phase draws 1 to 3", 1, 3),
    phase: whole("phase", "This phase of the seed alone, as it was planned in the whole campaign"),
    only: text("only", 'Only faults whose name has this in it, such as "database:"'),
    noProxy: on("no-proxy", "Connections go to the servers in turn, without haproxy between"),
    list: on("list", "Name every fault and run nothing"),
  },
  run: async (run, { list, noProxy, ...others }) => {
    const { faultNames, fire: begin } = await import("./fire/Campaign.ts")
    if (list) return listed(faultNames())
    return begin(run, { withHaproxy: !noProxy, ...others })
  },
})

const hostile = campaign("hostile", {
  says: "Sends hostile requests to a real server and checks every answer against the document. It fails on an undocumented answer, a 500 or more except a documented 503, and a missing answer. It also fails on memory above 350 MB, and on memory or files that grow after the first 100,000 requests.",
  examples: [
    ["hostile --size 1000000 --seed 7", "A million requests"],
    ["hostile --size 2000 --stones 10", "Seconds"],
  ],
  size: { unit: "requests", usual: 20_000 },
  minutes: { says: "Send nothing new after so many minutes" },
  flags: {
    stones: whole("stones", "Stones sold before it begins (2000)", 0),
  },
  run: async (run, { stones = 2_000 }) => (await import("./hostile/Campaign.ts")).hostile(run, stones),
})

const model = campaign("model", {
  says: "Explores every interleaving of the payment protocol, in larger worlds than the tests have time for. The decisions are those of src/payments/decision. test/campaign/model/README.md says more.",
  examples: [
    ["model", "All worlds: half an hour"],
    ["model --size 2000", "The first states of each world: seconds"],
  ],
  seed: "every interleaving is visited, so nothing is drawn",
  size: { unit: "states of one world at most", usual: 1_000_000 },
  minutes: { says: "Explore no other world after so many minutes" },
  flags: {},
  run: async (run) => (await import("./model/Campaign.ts")).model(run),
})

export const campaigns = Command.make("campaign").pipe(
  Command.withDescription(
    "The long runs of this project. --seed, --minutes and --size mean the same for all. Exit code 1: something was wrong; 2: the command line was.",
  ),
  Command.withSubcommands([fire, hostile, model]),
)
