/** Three servers under load, one killed and one added: nothing is lost, and nothing fails but what the killed one had in hand. */
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { cluster } from "../../lab/Cluster.ts"
import { random as randomOf } from "../../lab/Random.ts"
import { ground } from "./Ground.ts"
import { endings, load } from "./Load.ts"
import type { Run } from "./Options.ts"

/** The kill is noticed by haproxy's client within this long, milliseconds: what began before may have met it. */
const noticed = 100

export const growth = async ({ buyers, folder, log, seconds, seed }: Run): Promise<ReadonlyArray<string>> => {
  const random = randomOf(`growth/${seed}`)
  const database = await cluster(folder)
  const on = await ground({ cluster: database, folder: join(folder, "servers"), servers: 4, random, log })
  const violations: Array<string> = []
  try {
    const [first, , , fourth] = on.servers
    if (first === undefined || fourth === undefined) throw new Error("four servers are prepared")
    for (const one of on.servers.slice(0, 3)) one.start()
    for (const one of on.servers.slice(0, 3)) {
      if (!(await one.ready(120_000))) throw new Error(`${one.name} did not start: see ${folder}`)
    }
    await setTimeout(1_500)
    const running = await load(on, buyers, random.fork("buyers"))
    const third = (seconds * 1_000) / 3
    const began = performance.now()
    await setTimeout(third)
    const killed = performance.now()
    await first.kill()
    // Until it has ended, its kernel still takes connections.
    const gone = performance.now()
    log(
      `${first.name} was killed, and gone ${Math.round(gone - killed)} ms later, after ${running.purchases.length} purchases`,
    )
    await setTimeout(third)
    fourth.start()
    if (!(await fourth.ready(120_000))) violations.push(`${fourth.name} did not start`)
    log(`${fourth.name} was added after ${running.purchases.length} purchases`)
    await setTimeout(third)
    await running.stop()
    const tookSeconds = (performance.now() - began) / 1_000
    const failed = running.requests.filter(({ status }) => status === 0 || status >= 500)
    const inFlight = failed.filter(({ from, until }) => from <= Math.max(gone, killed + noticed) && until >= killed)
    for (const { from, status, what } of failed.filter((one) => !inFlight.includes(one))) {
      violations.push(`${what} was answered ${status} and began ${Math.round(from - killed)} ms after the kill`)
    }
    violations.push(...(await on.rests()))
    const { checks, violations: found } = await on.audited(on.answers.file)
    violations.push(...found.map(({ check, what }) => `${check}: ${what}`))
    const open = running.purchases.filter(({ outcome }) => outcome === undefined).length
    if (open > 0) violations.push(`${open} outcomes stay unknown`)
    log(`${running.purchases.length} purchases in ${tookSeconds.toFixed(0)} s: ${endings(running.purchases)}`)
    log(`${running.requests.length} requests; ${inFlight.length} were in flight at the killed server and failed`)
    log(`the auditor examined ${checks.reduce((sum, { examined }) => sum + examined, 0)} things`)
    return violations
  } finally {
    await on.close()
    await database.close()
  }
}
