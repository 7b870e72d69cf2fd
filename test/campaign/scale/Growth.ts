/** Three servers under load, one killed and one added: nothing is lost, and nothing fails but what the killed one had in hand. */
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { cluster } from "../../lab/Cluster.ts"
import { random } from "../../lab/Random.ts"
import type { Outcome, Run } from "../Run.ts"
import { endings, serverHarness } from "./ServerHarness.ts"

/** The kill is noticed by haproxy's client within this long, milliseconds: earlier requests may have met it. */
const noticed = 100

export const growth = async ({ home, log, minutes, seed, size }: Run): Promise<Outcome> => {
  const folder = await home()
  const database = await cluster(folder)
  const place = join(folder, "servers")
  const on = await serverHarness({ cluster: database, folder: place, count: 4, random: random(`growth/${seed}`), log })
  const violations: Array<string> = []
  try {
    const [first, , , fourth] = on.servers
    if (first === undefined || fourth === undefined) throw new Error("four servers are prepared")
    const stop = await on.load(3, size)
    const third = minutes * 20_000
    await setTimeout(third)
    const killed = performance.now()
    await first.kill()
    // Until it has ended, its kernel still takes connections.
    const gone = performance.now()
    log(`${first.name} was killed, and gone ${Math.round(gone - killed)} ms later`)
    await setTimeout(third)
    fourth.start()
    if (!(await fourth.ready(120_000))) violations.push(`${fourth.name} did not start`)
    log(`${fourth.name} was added`)
    await setTimeout(third)
    await stop()
    const failed = on.requests.filter(({ status }) => status === 0 || status >= 500)
    const inFlight = failed.filter(({ from, until }) => from <= Math.max(gone, killed + noticed) && until >= killed)
    for (const { from, status, what } of failed.filter((one) => !inFlight.includes(one))) {
      violations.push(`${what} was answered ${status} and began ${Math.round(from - killed)} ms after the kill`)
    }
    violations.push(...(await on.rests()))
    const { examined, violations: found } = await on.judged(true)
    violations.push(...found.map(({ check, what }) => `${check}: ${what}`))
    log(endings(on.purchases))
    const counts = {
      purchases: on.purchases.length,
      requests: on.requests.length,
      "in flight at the killed server": inFlight.length,
      "things examined": examined,
    }
    return { counts, violations }
  } finally {
    await on.close()
    await database.close()
  }
}
