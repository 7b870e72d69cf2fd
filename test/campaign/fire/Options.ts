/** What a campaign is told on its command line. */
import { parseArgs } from "node:util"

export const help = `Usage: npm run fire [-- --minutes 10] [--purchases 1000] [--kills 20] [--servers 3] [--seed 7] [--phase 4]

Buys acts of every kind from real servers (a real PostgreSQL, a real chain with 2-second blocks) while seeded faults
strike: servers and databases killed, statements refused, nodes that lie, branches given up, a facilitator that lies,
outsiders. After each phase everything is well again, every outcome is waited for, and an auditor of its own compares
chain, database, public API and every answer ever given. Exit code 1 when anything is wrong.

  --purchases N  how many are bought in all (1000)
  --kills N      servers and databases killed in all (a fiftieth of the purchases)
  --each N       purchases of one phase (200)
  --servers N    1 to 3 on one database; otherwise each phase draws it
  --settled-by   relayer or facilitator; otherwise phases take turns, three by the relayer to each by a facilitator
  --minutes N    begins no phase after so many minutes
  --seed N       of all chance: wallets, orders, faults and when they strike (random, and said)
  --phase N      this phase of the seed alone, as it was planned in the whole campaign
  --only TEXT    only faults whose name has this in it, such as "database:" or "reorganised"
  --no-proxy     connections go to the servers in turn, without haproxy between
  --keep FOLDER  logs, answers and tables are kept there (a temporary folder, kept when anything is wrong)
  --json FILE    writes the report there, too
  --list         names every fault
  --help         this text

Examples:
  npm run fire                                         about ten minutes
  npm run fire -- --purchases 10000 --minutes 60       the whole campaign
  npm run fire -- --seed 7 --phase 4 --keep /tmp/four  one phase again, with its logs
`

export interface Options {
  readonly purchases: number
  readonly kills: number
  readonly each: number
  readonly servers: number | undefined
  readonly settledBy: "relayer" | "facilitator" | undefined
  readonly minutes: number
  readonly seed: number
  readonly phase: number | undefined
  readonly only: string | undefined
  readonly withHaproxy: boolean
  readonly keep: string | undefined
  readonly json: string | undefined
}

/** Answers options, or "help" or "list"; throws a sentence about what is wrong. */
export const optionsOf = (args: ReadonlyArray<string>): Options | "help" | "list" => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      each: { type: "string" },
      help: { type: "boolean" },
      json: { type: "string" },
      keep: { type: "string" },
      kills: { type: "string" },
      list: { type: "boolean" },
      minutes: { type: "string" },
      "no-proxy": { type: "boolean" },
      only: { type: "string" },
      phase: { type: "string" },
      purchases: { type: "string" },
      seed: { type: "string" },
      servers: { type: "string" },
      "settled-by": { type: "string" },
    },
  })
  if (values.help === true) return "help"
  if (values.list === true) return "list"
  const whole = (name: keyof typeof values, least: number, most: number): number | undefined => {
    const text = values[name]
    if (text === undefined) return undefined
    const value = Number(text)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw new Error(`--${name} takes a whole number from ${least} to ${most}`)
  }
  const settledBy = values["settled-by"]
  if (settledBy !== undefined && settledBy !== "relayer" && settledBy !== "facilitator") {
    throw new Error("--settled-by takes relayer or facilitator")
  }
  const purchases = whole("purchases", 1, 1_000_000) ?? 1000
  return {
    purchases,
    kills: whole("kills", 0, 100_000) ?? Math.ceil(purchases / 50),
    each: whole("each", 1, 2_000) ?? 200,
    servers: whole("servers", 1, 3),
    settledBy,
    minutes: whole("minutes", 1, 100_000) ?? Infinity,
    seed: whole("seed", 0, 2 ** 31) ?? Math.floor(Math.random() * 1_000_000),
    phase: whole("phase", 1, 1_000_000),
    only: values.only,
    withHaproxy: values["no-proxy"] !== true,
    keep: values.keep,
    json: values.json,
  }
}
