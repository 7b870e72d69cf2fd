/** One phase: a world of its own, purchases while faults strike, then calm, every outcome, and the auditor. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { Answers } from "../../lab/buyer/AnswerLog.ts"
import { shopFor, type Purchase, type Shop } from "./Shopper.ts"
import { catalogAt, drawOrder } from "./Goods.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import { type Random, random as randomOf } from "../../lab/Random.ts"
import { CampaignFault } from "../../lab/OwnChain.ts"
import { harness } from "../Harness.ts"
import { outsiders } from "./Outsiders.ts"
import { buyers, conclude } from "./Recovery.ts"
import { type Fit, type Strike, strikes, type Struck } from "./Strikes.ts"

interface PhaseOptions {
  readonly seed: number
  readonly number: number
  readonly purchases: number
  readonly kills: number
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
      await answers.ask(url + random.pick(paths), { method: "GET", headers: {} }, 15_000)
      await setTimeout(random.between(200, 900))
    }
  })()
  return () => {
    over.abort()
    return done
  }
}

const strikesForKill = 4

interface Planned {
  readonly strike: Strike
  /** Begins when so many purchases have ended or been left. */
  readonly at: number
  readonly random: Random
}

/** The strikes, decided before anything begins, in the order in which they begin. */
const planOf = ({ kills, purchases }: PhaseOptions, world: Fit, random: Random): ReadonlyArray<Planned> => {
  const fitting = strikes.filter(({ fits }) => fits?.(world) !== false)
  const deadly = fitting.filter(({ isKill }) => isKill === true)
  const others = fitting.filter(({ isKill }) => isKill !== true)
  const draw = (from: ReadonlyArray<Strike>, count: number) =>
    Array.from({ length: count }, (_, index): Planned => {
      const at = Math.floor(((index + random.next()) / count) * purchases)
      return { strike: random.pick(from), at, random: random.fork(`strike ${index}`) }
    })
  const planned = [...draw(deadly, kills), ...draw(others, Math.max(strikesForKill * kills, 4))]
  return planned.sort((one, other) => one.at - other.at)
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
  let struck = 0
  const others = outsiders(world, () => (struck += 1))
  const target: Struck = { ...world, outsiders: others }
  const violations: Array<string> = []
  let purchases: ReadonlyArray<Purchase> = []
  let examined: ReadonlyMap<string, number> = new Map()
  let kills = 0
  try {
    await world.start()
    if (random.chance(0.2)) {
      await world.chain.shift(280)
      log("the chain's clock is 280 s ahead")
    }
    const catalog = await catalogAt(world.servers[0]?.url ?? world.url)
    const shop: Shop = {
      url: world.url,
      answers: world.answers,
      chainNow: world.chain.now,
      signed: (purchase) => others.see(shop, purchase),
      grant: world.cards.grant,
    }
    const plan = [...planOf(options, world, random.fork("plan"))]
    const running = new Set<Promise<unknown>>()
    const strike = ({ random: chance, strike: one }: Planned) => {
      struck += 1
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
    const wanted = Array.from({ length: options.purchases }, (_, index): Purchase => {
      const own = shopping.fork(String(index))
      return {
        order: drawOrder(own, catalog),
        key: `fire-${seed}-${number}-${index}-${own.hex(4)}`,
        wallet: own.pick(world.wallets),
        random: own,
        address: `10.${own.below(250)}.${own.below(250)}.${1 + own.below(250)}`,
        lives: own.between(40, 290),
      }
    })
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
        await shopFor(shop, one, () => performance.now() > leaves)
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
    examined = found.examined
  } catch (cause) {
    const why = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    violations.push(`the phase could not be finished: ${why}`)
  } finally {
    await world.close()
    await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  }
  return { purchases, strikes: struck, kills, examined, violations }
}
