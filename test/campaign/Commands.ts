/** The campaigns as commands: their effects, and their flags beside the shared ones. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { command, on } from "../../src/cli/Define.ts"
import { campaign, text, whole } from "./Options.ts"
import { page, root, summarised } from "./Report.ts"

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

const stories = campaign("stories", {
  says: "Plays random stories against real servers and compares every answer with a small model. A story that goes wrong is made shorter and printed command by command.",
  examples: [
    ["stories --size 500 --seed 7", "So many stories of each kind, of this seed"],
    ["stories --only relayer --size 1", "One story: seconds"],
    ["stories --only relayer --replay '[…]'", "The story that a failure has printed"],
  ],
  size: { unit: "stories of each kind", usual: 100 },
  minutes: { says: "Begin no story of a kind after it had so many minutes" },
  leavesLogs: true,
  flags: {
    only: Flag.Literals("only", ["relayer", "facilitator"]).pipe(
      Flag.withDescription("Stories of one kind"),
      Flag.optional,
      Flag.map(Option.getOrUndefined),
    ),
    replay: text("replay", "The token that a failure has printed"),
  },
  run: async (run, given) => (await import("./stories/Campaign.ts")).stories(run, given),
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

const scale = campaign("scale", {
  says: "Three servers behind haproxy under load; one is killed, a fourth is added. Only requests in flight at the killed server may fail.",
  examples: [["scale --minutes 0.2 --size 4", "Seconds of load"]],
  size: { unit: "buyers at a time", usual: 24 },
  minutes: { says: "Minutes of load", usual: 0.5 },
  leavesLogs: true,
  flags: {},
  run: async (run) => (await import("./scale/Growth.ts")).growth(run),
})

const mutants = campaign("mutants", {
  says: "Puts deliberate faults into a copy of the checkout, one after the other, runs the few tests most likely to notice each, and says which one did. Wrong is a fault that no test notices.",
  examples: [
    ["mutants --list", "The faults, and where they are looked for"],
    ["mutants --only src/room", "Those of a file or with these words"],
    ["mutants --size 5 --seed 3", "Five faults that the seed draws"],
  ],
  size: { unit: "faults at most", usual: 1_000 },
  minutes: { says: "Try no fault after so many minutes" },
  flags: {
    only: text("only", "Only faults or files that have these words"),
    list: on("list", "Say what there is and run nothing"),
  },
  run: async (run, { list, only }) => {
    const { listed: namesOf, mutation } = await import("./mutants/Campaign.ts")
    return list ? listed(namesOf(only)) : mutation(run, only)
  },
})

const model = campaign("model", {
  says: "Explores every interleaving of the payment protocol, in larger worlds than the tests have time for. The decisions are those of src/payments/protocol. test/campaign/model/README.md says more.",
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

const soak = campaign("soak", {
  says: "Fire by the hour: two servers sell on one database, phase after phase, and each phase is audited.",
  examples: [
    ["soak --minutes 480", "A night"],
    ["soak --size 40", "A minute"],
  ],
  size: { unit: "purchases at most", usual: 1_000_000 },
  minutes: { says: "Begin no phase after so many minutes", usual: 60 },
  leavesLogs: true,
  flags: {},
  run: async (run) => (await import("./fire/Campaign.ts")).fire(run, { servers: 2, withHaproxy: true }),
})

const summary = command("summary", {
  description: `Write the table of the last reports into ${page}, from the files of docs/campaigns`,
  examples: [
    ["npm run campaign -- fire --report docs/campaigns/fire.json", "Replace the last report of a campaign"],
    ["npm run campaign -- summary", "Write the table"],
    ["npm run campaign -- summary --check", "Fail when the table is stale"],
  ],
  flags: { check: on("check", "Only compare; exit 1 when stale") },
  run: ({ check }) =>
    Effect.sync(() => {
      const file = join(root, page)
      const before = readFileSync(file, "utf8")
      const after = summarised(before)
      if (check && after !== before) {
        console.error(`The table in ${page} is stale: npm run campaign -- summary`)
        process.exit(1)
      }
      if (!check) writeFileSync(file, after)
      console.log(`${page} ${check ? "is fresh" : "written"}`)
    }),
})

export const campaigns = Command.make("campaign").pipe(
  Command.withDescription(
    "The long runs of this project. --seed, --minutes, --size and --report mean the same for all. Exit code 1: something was wrong; 2: the command line was.",
  ),
  Command.withSubcommands([fire, stories, hostile, scale, mutants, model, soak, summary]),
)
