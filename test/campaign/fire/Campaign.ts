/** `npm run campaign -- fire`: runs phase after phase, each in a world of its own. */
import { join } from "node:path"
import { cluster } from "../../lab/Cluster.ts"
import { hasHaproxy } from "../../lab/proxy/Haproxy.ts"
import { random } from "../../lab/Random.ts"
import { canSkewClocks } from "../../lab/server/ServerProcess.ts"
import { add, type Run } from "../Run.ts"
import { runPhase } from "./Phase.ts"
import { strikes } from "./Strikes.ts"

export interface FireOptions {
  /** Servers and databases killed in all: by default a fiftieth of the purchases. */
  readonly kills?: number | undefined
  /** By default each phase draws 1 to 3. */
  readonly servers?: number | undefined
  /** This phase alone, as it was planned in the whole campaign. */
  readonly phase?: number | undefined
  /** Only faults whose name includes this. */
  readonly only?: string | undefined
  readonly withHaproxy: boolean
}

/** Purchases of one phase. */
const each = 200

/** The command that runs one phase again. */
const againOf = ({ seed, size }: Run, options: FireOptions, number: number) => {
  const { kills, only, servers, withHaproxy } = options
  const told = { seed, size, phase: number, kills, servers, only: only && `'${only}'` }
  const flags = Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]))
  return ["npm run campaign -- fire", ...flags, ...(withHaproxy ? [] : ["--no-proxy"])].join(" ")
}

export const fire = async (run: Run, options: FireOptions) => {
  const { isOver, log, seed, size: wanted } = run
  const folder = await run.home()
  const { kills = Math.ceil(wanted / 50), only, phase } = options
  const withHaproxy = options.withHaproxy && hasHaproxy()
  if (options.withHaproxy && !withHaproxy) log("haproxy is not installed (apt install haproxy): connections take turns")
  if (!canSkewClocks) log("libfaketime is not installed (apt install faketime): every server has the right clock")
  const database = await cluster(folder)
  if (!database.canFailOver) log("pg_basebackup is not installed (apt install postgresql): no failover to a standby")
  const examined = new Map<string, number>()
  const struck = new Map<string, number>()
  const violations: Array<string> = []
  const counts = { purchases: 0, phases: 0, kills: 0, strikes: 0, settled: 0, "things examined": 0 }
  const last = Math.ceil(wanted / each)
  try {
    for (let number = phase ?? 1; number <= (phase ?? last) && !isOver(); number += 1) {
      const { servers = 1 + random(`${seed}/${number}/set-up`).below(3) } = options
      const settledBy = number % 4 === 0 ? "facilitator" : "relayer"
      const ofKills = Math.floor((number * kills) / last) - Math.floor(((number - 1) * kills) / last)
      log(`phase ${number} of ${last}: ${servers} servers, settled by the ${settledBy}, ${ofKills} kills`)
      const result = await runPhase({
        seed,
        number,
        purchases: Math.min(each, wanted - (number - 1) * each),
        kills: ofKills,
        servers,
        settledBy,
        withHaproxy,
        only,
        folder: join(folder, `phase-${number}`),
        cluster: database,
        log,
      })
      for (const { examined: times, name } of result.checks) add(examined, name, times)
      violations.push(...result.violations.map((what) => `phase ${number}: ${what}`))
      counts.purchases += result.purchases.length
      counts.kills += result.kills
      counts.phases += 1
      for (const [name, times] of result.struck) {
        add(struck, name, times)
        counts.strikes += times
      }
      counts.settled += result.purchases.filter(({ outcome }) => outcome?._tag === "Settled").length
      log(`  ${counts.settled} of ${counts.purchases} settled, ${counts.kills} kills, ${violations.length} violations`)
      if (result.violations.length > 0) log(`  again: ${againOf(run, options, number)}`)
    }
  } finally {
    await database.close()
  }
  counts["things examined"] = [...examined.values()].reduce((sum, count) => sum + count, 0)
  return { counts, violations, examined, struck }
}

/** Every fault by its name. */
export const faultNames = () => strikes.map(({ name }) => name).join("\n")
