/** One phase: a world of its own, purchases while faults strike, then peace, every outcome, and the auditor. */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { audit } from "../../audit/Audit.ts"
import { build, type HarnessOptions } from "./Harness.ts"
import { buy, newPurchase, type Purchase, type BuyerOptions } from "../../lab/buyer/Buyer.ts"
import { facilitatorAccount } from "../../lab/Chain.ts"
import { catalogAt } from "../../lab/buyer/Goods.ts"
import { asLight } from "./Lights.ts"
import { members } from "./Members.ts"
import { outsiders } from "./Outsiders.ts"
import { owners } from "./Owners.ts"
import { buyers, conclude } from "./Recovery.ts"
import { type Planned, planOf, type PlanOptions } from "./Plan.ts"
import { secretKey } from "../../lab/proxy/CardProcessor.ts"
import { random as randomOf } from "../../lab/Random.ts"
import { reading } from "./Readers.ts"
import { CampaignFault } from "../../lab/Reorganisations.ts"
import { add } from "../Run.ts"
import type { Struck } from "./Strikes.ts"

export interface PhaseOptions extends HarnessOptions, PlanOptions {}

export interface PhaseResult {
  readonly purchases: ReadonlyArray<Purchase>
  readonly struck: ReadonlyMap<string, number>
  readonly kills: number
  readonly checks: ReadonlyArray<{ readonly name: string; readonly examined: number }>
  readonly violations: ReadonlyArray<string>
}

/** Milliseconds after which a buyer leaves an outcome for the end of the phase. */
const leavesAfter = 25_000
export const runPhase = async (options: PhaseOptions): Promise<PhaseResult> => {
  const { number, seed } = options
  const random = randomOf(`${seed}/${number}`)
  const began = performance.now()
  const log = (line: string) =>
    options.log(`  ${((performance.now() - began) / 1000).toFixed(0).padStart(3)} s ${line}`)
  const world = await build({ ...options, log }, random)
  const violations: Array<string> = []
  let purchases: ReadonlyArray<Purchase> = []
  let checks: PhaseResult["checks"] = []
  let kills = 0
  try {
    for (const one of world.servers) one.start()
    for (const one of world.servers) {
      if (!(await one.ready(60_000))) throw new Error(`${one.name} did not start: see ${options.folder}`)
    }
    if (world.skewSeconds === 0 && random.chance(0.2)) {
      await world.chain.shift(280)
      log("the chain's clock is 280 s ahead")
    }
    const catalog = await catalogAt(world.servers[0]?.url ?? world.url)
    const others = outsiders(world)
    const struck: Struck = { ...world, outsiders: others }
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
      add(world.struck, one.name)
      appendFileSync(join(options.folder, "strikes.log"), `${new Date().toISOString()} ${one.name}\n`)
      const run = one
        .run(struck, chance)
        .then(() => (kills += one.isKill === true ? 1 : 0))
        .catch((cause: unknown) => {
          log(`${one.name}: ${String(cause).slice(0, 160)}`)
          if (cause instanceof CampaignFault) violations.push(`the campaign itself is at fault: ${cause.message}`)
        })
        .finally(() => running.delete(run))
      running.add(run)
    }

    const shopping = random.fork("orders")
    const least = world.skewSeconds > 0 ? 310 : 40
    const wanted = Array.from({ length: options.purchases }, (_, index) =>
      newPurchase(shopping.fork(String(index)), catalog, world.wallets, {
        number: index,
        key: `fire-${seed}-${number}`,
        lives: [least, least + 250],
      }),
    )
    purchases = wanted
    const stopReading = reading(world.url, world.answers, random.fork("readers"))
    const gathered = members(world.url, world.answers, random.fork("members"))
    const sealers = owners(world.url, world.answers, random.fork("owners"))
    let [begun, left] = [0, 0]
    const strikeDue = () => {
      while (plan[0] !== undefined && plan[0].at <= left) strike(plan.shift() as Planned)
    }
    strikeDue()
    await Promise.all(
      Array.from({ length: buyers }, async () => {
        for (let one = wanted[begun]; one !== undefined; one = wanted[begun]) {
          begun += 1
          one.order = await asLight(one.order, wanted, one.random.fork("light"))
          const leaves = performance.now() + leavesAfter
          await buy(shop, one, () => performance.now() > leaves)
          sealers.see(one)
          left += 1
          strikeDue()
        }
      }),
    )
    log("every purchase has begun and been left")
    for (const rest of plan) strike(rest)
    while (running.size > 0) await Promise.all(running)
    await stopReading()
    violations.push(...(await conclude(struck, shop, wanted)))
    violations.push(...(await gathered.rest()))
    violations.push(...(await sealers.rest()))
    const endedRooms = [gathered.leftRoom()].filter((id) => id !== undefined)
    for (const id of endedRooms) {
      await world.cluster.run(`UPDATE rooms SET expires_at = now() WHERE id = '${id}'`, world.database)
    }
    for (const { crashes, name } of world.servers) {
      if (crashes() > 0) violations.push(`${name} has ended by itself ${crashes()} times`)
    }
    const found = await audit({
      databaseUrl: world.cluster.urlOf(world.database),
      rpcUrl: world.chain.rpcUrl,
      servers: world.servers.map(({ url }) => url),
      token: world.chain.asset,
      payTo: world.chain.payTo,
      answersFile: world.answers.file,
      settlers: world.settledBy === "facilitator" ? [facilitatorAccount] : [],
      cards: { url: world.cards.url, secretKey },
      endedRooms,
      isQuiet: true,
      log: (line) => log(`audit: ${line}`),
    }).catch((cause: unknown) => ({
      checks: [],
      violations: [{ check: "the audit", what: `could not be finished: ${String(cause)}` }],
    }))
    violations.push(...found.violations.map(({ check, what }) => `${check}: ${what}`))
    checks = found.checks
  } catch (cause) {
    violations.push(
      `the phase could not be finished: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`,
    )
  } finally {
    await world.close()
  }
  return { purchases, struck: world.struck, kills, checks, violations }
}
