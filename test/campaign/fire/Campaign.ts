/** `npm run campaign -- fire`: phase after phase, each in a world of its own, and what they have shown together. */
import { join } from "node:path"
import { cluster } from "../../lab/Cluster.ts"
import { hasHaproxy } from "../../lab/proxy/Haproxy.ts"
import { random } from "../../lab/Random.ts"
import { canSkewClocks } from "../../lab/server/ServerProcess.ts"
import { add, type Run, tableOf } from "../Run.ts"
import { runPhase } from "./Phase.ts"
import { strikes } from "./Strikes.ts"
import { addTo, endOf, type Sums } from "./Tally.ts"

export interface FireOptions {
  /** Servers and databases killed in all; a fiftieth of the purchases unless it is told. */
  readonly kills?: number | undefined
  /** Purchases of one phase. */
  readonly each: number
  /** Drawn for each phase unless it is told. */
  readonly servers?: number | undefined
  /** In turn unless it is told: three phases by the relayer to each by a facilitator. */
  readonly settledBy?: "relayer" | "facilitator" | undefined
  /** This phase alone, as it was planned in the whole campaign. */
  readonly phase?: number | undefined
  /** Only faults whose name has this in it. */
  readonly only?: string | undefined
  readonly withHaproxy: boolean
}

export const killsOf = (purchases: number) => Math.ceil(purchases / 50)

/** How a phase of this number is set up, whatever the others did. */
const setUp = (seed: number, options: FireOptions, number: number) => {
  const servers = 1 + random(`${seed}/${number}/set-up`).below(3)
  return {
    servers: options.servers ?? servers,
    settledBy: options.settledBy ?? (number % 4 === 0 ? ("facilitator" as const) : ("relayer" as const)),
  }
}

/** The command that runs one phase as it was. */
const againOf = ({ seed, size }: Run, options: FireOptions, number: number) => {
  const { each, kills, only, servers, settledBy, withHaproxy } = options
  const told = { seed, size, phase: number, each, kills, servers, "settled-by": settledBy, only: only && `'${only}'` }
  const flags = Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]))
  return ["npm run campaign -- fire", ...flags, ...(withHaproxy ? [] : ["--no-proxy"])].join(" ")
}

export const fire = async (run: Run, options: FireOptions) => {
  const { isOver, log, seed, size: wanted } = run
  const folder = await run.home()
  const { each, kills = killsOf(wanted), only, phase } = options
  const withHaproxy = options.withHaproxy && hasHaproxy()
  if (options.withHaproxy && !withHaproxy) {
    log("haproxy is not installed (apt install haproxy): connections go to the servers in turn, as with --no-proxy")
  }
  if (!canSkewClocks) log("libfaketime is not installed (apt install faketime): every server has the right clock")
  const database = await cluster(folder)
  const [faults, kinds]: readonly [Sums, Sums] = [new Map(), new Map()]
  const [answers, examined, reasons] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  const violations: Array<string> = []
  const counts = { purchases: 0, phases: 0, kills: 0, strikes: 0, settled: 0, "things examined": 0 }
  const last = Math.ceil(wanted / each)
  try {
    for (let number = phase ?? 1; number <= (phase ?? last) && !isOver(); number += 1) {
      const { servers, settledBy } = setUp(seed, options, number)
      const ofKills = Math.floor((number * kills) / last) - Math.floor(((number - 1) * kills) / last)
      log(`phase ${number} of ${last}: ${servers} of our servers, settled by the ${settledBy}, ${ofKills} kills`)
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
      result.tally.addTo(faults, result.purchases)
      const ends = new Map<string, number>()
      for (const one of result.purchases) {
        add(ends, endOf(one))
        addTo(kinds, one.order.card === undefined ? one.order.kind : `${one.order.kind} by card`, endOf(one))
        const { outcome } = one
        if (outcome !== undefined && "reason" in outcome) add(reasons, `${endOf(one)}: ${outcome.reason}`)
      }
      for (const [name, times] of result.counts) add(answers, name, times)
      for (const { examined: times, name } of result.checks) add(examined, name, times)
      violations.push(...result.violations.map((what) => `phase ${number}: ${what}`))
      counts.purchases += result.purchases.length
      counts.kills += result.kills
      counts.phases += 1
      counts.strikes += result.tally.strikes()
      counts.settled += (ends.get("at once") ?? 0) + (ends.get("later") ?? 0)
      const how = [...ends].map(([end, count]) => `${count} ${end}`).join(", ")
      log(`  ${how}; ${counts.purchases} bought, ${counts.kills} kills, ${violations.length} violations so far`)
      for (const what of result.violations.slice(0, 20)) log(`  VIOLATION ${what}`)
      if (result.violations.length > 0) log(`  again: ${againOf(run, options, number)}`)
    }
  } finally {
    await database.close()
  }
  counts["things examined"] = [...examined.values()].reduce((sum, count) => sum + count, 0)
  const tables = {
    "Faults, how the purchases ended that met them, and where attempts stood": faults,
    "What was bought": kinds,
    "Why some were not sold": tableOf(reasons),
    "What was answered": tableOf(answers),
    "What the auditor examined": tableOf(examined),
  }
  return { counts, tables, violations, faults, examined }
}

/** Every fault by its name. */
export const faultNames = () => strikes.map(({ name }) => name).join("\n")
