/** The end of a phase: all is well again, and every outcome is waited for. */
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { hasten, unfinishedIn } from "../../lab/server/ServerGroup.ts"
import { buy, type Purchase, type BuyerOptions } from "../../lab/buyer/Buyer.ts"
import { clusterRests, type Struck } from "./Strikes.ts"

/** Buyers at a time. */
export const buyers = 80
const openIn = (purchases: ReadonlyArray<Purchase>) => purchases.filter(({ outcome }) => outcome === undefined)

/** Asks for those that are open until they are not, so many at a time. */
const carryOn = async (shop: BuyerOptions, purchases: ReadonlyArray<Purchase>, patienceMs: number) => {
  const end = performance.now() + patienceMs
  const waiting = [...openIn(purchases)]
  await Promise.all(
    Array.from({ length: buyers }, async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        await buy(shop, one, () => performance.now() > end)
      }
    }),
  )
}

/** No more faults, all servers up; then every outcome is waited for, at last on a chain that is past every authorization. */
export const conclude = async (world: Struck, shop: BuyerOptions, purchases: ReadonlyArray<Purchase>) => {
  const violations: Array<string> = []
  world.log("the last strikes are over")
  await clusterRests()
  for (const proxy of [world.pg, world.rpc, world.facilitator, world.cards]) await Effect.runPromise(proxy.calm)
  world.door.calm()
  await Effect.runPromise(world.cards.finish)
  await world.cluster.run("SELECT 1")
  for (const one of world.servers) {
    if (!one.isRunning()) one.start()
  }
  for (const one of world.servers) {
    if (!(await one.ready(40_000))) violations.push(`${one.name} was not ready 40 s after all was well again`)
  }
  await world.outsiders.done()
  await carryOn(shop, purchases, 15_000)
  const open = openIn(purchases).length
  world.log(`all is well again; ${open} of ${purchases.length} outcomes are open`)
  const last = Math.max(0, ...purchases.map(({ signed }) => signed?.validBefore ?? 0))
  const now = await world.chain.now()
  if (now <= last) await world.chain.shift(last - now + 10)
  await world.chain.mine(4)
  await hasten(world.cluster, world.database)
  await carryOn(shop, purchases, 60_000)
  world.log("every outcome is known, or never will be")
  for (const { key, order: wanted } of openIn(purchases)) {
    violations.push(`the outcome of ${wanted.kind} ${key} stays unknown`)
  }
  for (const end = performance.now() + 60_000; ; await setTimeout(1_500)) {
    const { pending, unfinal } = await unfinishedIn(world.cluster, world.database)
    if (pending + unfinal === 0) break
    if (performance.now() < end) {
      await hasten(world.cluster, world.database)
      continue
    }
    violations.push(`a minute later ${pending} are pending, ${unfinal} not final`)
    break
  }
  return violations
}
