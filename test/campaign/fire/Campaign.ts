/** `npm run fire`: runs phase after phase, each in a world of its own. */
import { join } from "node:path"
import { cluster } from "../../lab/Cluster.ts"
import { random } from "../../lab/Random.ts"
import { canSkewClocks } from "../../lab/server/ServerProcess.ts"
import { add } from "./Sums.ts"
import { runPhase } from "./Phase.ts"
import { strikes } from "./Strikes.ts"

export interface FireOptions {
  /** Of all chance: the same seed plans the same run. */
  readonly seed: number
  readonly size: number
  /** Minutes after which no phase begins. */
  readonly minutes?: number | undefined
  /** Servers and databases killed in all: by default a fiftieth of the purchases. */
  readonly kills?: number | undefined
  /** By default each phase draws 1 to 3. */
  readonly servers?: number | undefined
  /** This phase alone, as it was planned in the whole campaign. */
  readonly phase?: number | undefined
  /** Only faults whose name includes this. */
  readonly only?: string | undefined
  readonly folder: string
  readonly log: (line: string) => void
}

/** Purchases of one phase. */
const each = 200

/** The command that runs one phase again. */
const againOf = ({ kills, only, seed, servers, size }: FireOptions, phase: number) => {
  const told = { seed, size, phase, kills, servers, only: only && `'${only}'` }
  const flags = Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]))
  return ["npm run fire --", ...flags].join(" ")
}

export const fire = async (options: FireOptions) => {
  const { folder, log, minutes = Infinity, only, phase, seed, size } = options
  const { kills = Math.ceil(size / 50) } = options
  const end = performance.now() + minutes * 60_000
  if (!canSkewClocks) log("libfaketime is not installed (apt install faketime): every server has the right clock")
  const database = await cluster(folder)
  const examined = new Map<string, number>()
  const struck = new Map<string, number>()
  const violations: Array<string> = []
  const counts = { purchases: 0, phases: 0, kills: 0, strikes: 0, settled: 0, "things examined": 0 }
  const last = Math.ceil(size / each)
  try {
    for (let number = phase ?? 1; number <= (phase ?? last) && performance.now() < end; number += 1) {
      const { servers = 1 + random(`${seed}/${number}/set-up`).below(3) } = options
      const settledBy = number % 4 === 0 ? "facilitator" : "relayer"
      const ofKills = Math.floor((number * kills) / last) - Math.floor(((number - 1) * kills) / last)
      log(`phase ${number} of ${last}: ${servers} servers, settled by the ${settledBy}, ${ofKills} kills`)
      const result = await runPhase({
        seed,
        number,
        purchases: Math.min(each, size - (number - 1) * each),
        kills: ofKills,
        servers,
        settledBy,
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
      if (result.violations.length > 0) log(`  again: ${againOf(options, number)}`)
    }
  } finally {
    await database.close()
  }
  counts["things examined"] = [...examined.values()].reduce((sum, count) => sum + count, 0)
  return { counts, violations, examined }
}

export const faultNames = () => strikes.map(({ name }) => name).join("\n")
