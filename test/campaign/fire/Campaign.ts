/** `npm run fire`: runs phase after phase, each in a world of its own. */
import { join } from "node:path"
import { cluster } from "../../lab/Cluster.ts"
import { random } from "../../lab/Random.ts"
import { runPhase } from "./Phase.ts"

interface FireOptions {
  /** The seed of all random choices: the same seed plans the same run. */
  readonly seed: number
  /** Purchases. */
  readonly size: number
  /** Servers and databases killed in all. */
  readonly kills: number
  /** This phase alone, as it was planned in the whole campaign. */
  readonly phase?: number | undefined
  readonly folder: string
  readonly log: (line: string) => void
}

/** Purchases of one phase. */
const each = 200

export const fire = async ({ folder, kills, log, phase, seed, size }: FireOptions) => {
  const database = await cluster(folder)
  const examined = new Map<string, number>()
  const violations: Array<string> = []
  const counts = { purchases: 0, phases: 0, kills: 0, strikes: 0, settled: 0, "things examined": 0 }
  const last = Math.ceil(size / each)
  try {
    for (let number = phase ?? 1; number <= (phase ?? last); number += 1) {
      const servers = 1 + random(`${seed}/${number}/set-up`).below(3)
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
        folder: join(folder, `phase-${number}`),
        cluster: database,
        log,
      })
      for (const [name, times] of result.examined) {
        examined.set(name, (examined.get(name) ?? 0) + times)
        counts["things examined"] += times
      }
      violations.push(...result.violations.map((what) => `phase ${number}: ${what}`))
      counts.purchases += result.purchases.length
      counts.kills += result.kills
      counts.phases += 1
      counts.strikes += result.strikes
      counts.settled += result.purchases.filter(({ outcome }) => outcome?._tag === "Settled").length
      log(`  ${counts.settled} of ${counts.purchases} settled, ${counts.kills} kills, ${violations.length} violations`)
      if (result.violations.length > 0)
        log(`  again: npm run fire -- --seed ${seed} --size ${size} --kills ${kills} --phase ${number}`)
    }
  } finally {
    await database.close()
  }
  return { counts, violations, examined }
}
