/** One phase: a world of its own, purchases while faults strike, then calm, every outcome, and the auditor. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { Answers } from "../../lab/buyer/AnswerLog.ts"
import type { Check } from "../../audit/Audit.ts"
import { buy, newPurchase, type Purchase, type BuyerOptions } from "../../lab/buyer/Buyer.ts"
import { catalogAt } from "../../lab/buyer/Goods.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import { type Random, random as randomOf } from "../../lab/Random.ts"
import { CampaignFault } from "../../lab/OwnChain.ts"
import { harness } from "../Harness.ts"
import { outsiders } from "./Outsiders.ts"
import { buyers, conclude } from "./Recovery.ts"
import { type Planned, planOf, type PlanOptions } from "./Plan.ts"
import type { Struck } from "./Strikes.ts"

interface PhaseOptions extends PlanOptions {
  readonly seed: number
  readonly number: number
  readonly servers: number
  readonly settledBy: "relayer" | "facilitator"
  readonly folder: string
  readonly cluster: Cluster
  readonly log: (line: string) => void
}

/** Milliseconds after which a buyer leaves an outcome for the end of the phase. */
const leavesAfter = 25_000

const paths = [
  "/log/checkpoint",
  "/api/witness/log",
  "/api/witness/chain?limit=100",
  "/api/publish-chain?limit=100",
  "/api/witness?limit=20",
  "/api/acts?limit=20",
  "/api/candles?limit=20",
  "/api/field",
]

/** Reads what the auditor compares later, until it is told to stop; answers what waits for its end. */
const reading = (url: string, answers: Answers, random: Random) => {
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      await answers.ask({ method: "GET", url: url + random.pick(paths), headers: {} }, 15_000)
      await setTimeout(random.between(200, 900))
    }
  })()
  return () => {
    over.abort()
    return done
  }
}

export const runPhase = async (options: PhaseOptions) => {
  const { cluster, folder, number, seed } = options
  const random = randomOf(`${seed}/${number}`)
  const began = performance.now()
  const log = (line: string) =>
    options.log(`  ${((performance.now() - began) / 1000).toFixed(0).padStart(3)} s ${line}`)
  const database = `fire_${seed}_${number}`
  await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  await cluster.run(`CREATE DATABASE ${database}`)
  const world = await harness({ ...options, database, count: options.servers, random, log })
  let strikes = 0
  const others = outsiders(world, () => (strikes += 1))
  const target: Struck = { ...world, outsiders: others }
  const violations: Array<string> = []
  let purchases: ReadonlyArray<Purchase> = []
  let checks: ReadonlyArray<Check> = []
  let kills = 0
  try {
    await world.start()
    if (random.chance(0.2)) {
      await world.chain.shift(280)
      log("the chain's clock is 280 s ahead")
    }
    const catalog = await catalogAt(world.servers[0]?.url ?? world.url)
    const shop: BuyerOptions = {
      url: world.url,
      answers: world.answers,
      chainNow: world.chain.now,
      signed: (purchase) => others.see(shop, purchase),
      grant: world.cards.grant,
    }
    const plan = [...planOf(options, world, random.fork("plan"))]
    const running = new Set<Promise<unknown>>()
    const strike = ({ random: chance, strike: one }: Planned) => {
      strikes += 1
      appendFileSync(join(folder, "strikes.log"), `${new Date().toISOString()} ${one.name}\n`)
      const run = one
        .run(target, chance)
        .then(() => (kills += one.isKill === true ? 1 : 0))
        .catch((cause: unknown) => {
          log(`${one.name}: ${String(cause).slice(0, 160)}`)
          if (cause instanceof CampaignFault) violations.push(`the campaign itself is at fault: ${cause.message}`)
        })
        .finally(() => running.delete(run))
      running.add(run)
    }

    const shopping = random.fork("orders")
    const wanted = Array.from({ length: options.purchases }, (_, index) =>
      newPurchase(shopping.fork(String(index)), catalog, world.wallets, {
        number: index,
        key: `fire-${seed}-${number}`,
        lives: [40, 290],
      }),
    )
    purchases = wanted
    const stopReading = reading(world.url, world.answers, random.fork("readers"))
    let [begun, left] = [0, 0]
    const strikeDue = () => {
      while (plan[0] !== undefined && plan[0].at <= left) strike(plan.shift() as Planned)
    }
    strikeDue()
    const buyer = async () => {
      for (let one = wanted[begun]; one !== undefined; one = wanted[begun]) {
        begun += 1
        const leaves = performance.now() + leavesAfter
        await buy(shop, one, () => performance.now() > leaves)
        left += 1
        strikeDue()
      }
    }
    await Promise.all(Array.from({ length: buyers }, buyer))
    log("every purchase has begun and been left")
    for (const rest of plan) strike(rest)
    while (running.size > 0) await Promise.all(running)
    await stopReading()
    violations.push(...(await conclude(target, shop, wanted)))
    for (const { crashes, name } of world.servers)
      if (crashes() > 0) violations.push(`${name} has ended by itself ${crashes()} times`)
    const found = await world.audited()
    violations.push(...found.violations.map(({ check, what }) => `${check}: ${what}`))
    checks = found.checks
  } catch (cause) {
    const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    violations.push(`the phase could not be finished: ${why}`)
  } finally {
    await world.close()
    await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  }
  return { purchases, strikes, kills, checks, violations }
}
