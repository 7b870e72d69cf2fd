/** What the runs of `npm run scale` are told. */
import { parseArgs } from "node:util"

export const help = `Usage: npm run scale -- servers | failover --sync | failover --async | bouncer [test files] | rows

Growth past one machine, held against real processes: exit code 1 when anything was lost or wrong.

  servers            three servers behind haproxy under load; one is killed, a fourth is added
  failover --sync    PostgreSQL is killed under load and its streaming standby promoted: nothing may be lost
  failover --async   the same with a standby that is behind: what was lost is found again from the chain
  bouncer [FILES]    all tests with a database through PgBouncer in transaction mode; every statement they send is
                     checked. Which are left out and why stands in test/campaign/scale/Apart.ts: what starts a PostgreSQL or a
                     PgBouncer of its own, counts sessions, moves the database's clock, or has no database
  rows               how many claims, stones and leaves a second go through the rows that they lock

  --seconds N   of load (30)
  --buyers N    at once (24)
  --seed N      of all chance (1)
  --keep FOLDER logs and answers are kept there

servers and failover want haproxy (apt install haproxy). failover wants pg_basebackup, which Debian's postgresql
package brings (apt install postgresql) and the PostgreSQL of node_modules lacks. bouncer wants PgBouncer 1.21 or newer
in the PATH or as PGBOUNCER: it has to know prepared statements.
`

export interface Run {
  readonly folder: string
  readonly seconds: number
  readonly buyers: number
  readonly seed: number
  readonly log: (line: string) => void
}

/** Throws a sentence about what is wrong. */
export const optionsOf = (args: ReadonlyArray<string>) => {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      async: { type: "boolean", default: false },
      buyers: { type: "string", default: "24" },
      help: { type: "boolean", default: false },
      keep: { type: "string" },
      seconds: { type: "string", default: "30" },
      seed: { type: "string", default: "1" },
      sync: { type: "boolean", default: false },
    },
  })
  const whole = (name: "buyers" | "seconds" | "seed") => {
    const value = Number(values[name])
    if (Number.isInteger(value) && value >= 1 && value <= 100_000) return value
    throw new Error(`--${name} takes a whole number from 1 to 100000`)
  }
  const [command, ...files] = positionals
  if (!values.help && command !== "servers" && command !== "failover" && command !== "bouncer" && command !== "rows") {
    throw new Error("Say servers, failover, bouncer or rows; --help explains them")
  }
  if (command === "failover" && values.async === values.sync) throw new Error("failover takes --sync or --async")
  return {
    command: values.help ? "help" : command,
    files,
    isSync: values.sync,
    keep: values.keep,
    buyers: whole("buyers"),
    seconds: whole("seconds"),
    seed: whole("seed"),
  }
}
