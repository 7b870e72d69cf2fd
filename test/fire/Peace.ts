/** The end of a phase: all is well again, and every outcome is waited for. */
import { setTimeout } from "node:timers/promises"
import { buy, type Purchase, type Shop } from "./Buyer.ts"
import { clusterRests, type Struck } from "./Strikes.ts"
import type { World } from "./World.ts"

/** Buyers at a time. */
export const buyers = 80
const openIn = (purchases: ReadonlyArray<Purchase>) => purchases.filter(({ outcome }) => outcome === undefined)

/** Asks for those that are open until they are not, so many at a time. */
const carryOn = async (shop: Shop, purchases: ReadonlyArray<Purchase>, patienceMs: number) => {
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

const unfinished = (world: World) =>
  world.cluster.run(
    `SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
      count(*) FILTER (WHERE state = 'settled' AND finality = 'pending' AND rail = 'x402')::int AS unfinal FROM payment_attempts`,
    world.database,
  )

/** Nobody waits as long as a server would for its next look: it is due, also by the clock of a server that is behind. */
const hasten = (world: World) =>
  world.cluster.run(
    `UPDATE payment_attempts SET next_check_at = '2000-01-01'
    WHERE (state = 'pending' OR state = 'settled' AND finality = 'pending' AND rail = 'x402') AND next_check_at > '2000-01-01'`,
    world.database,
  )

/** No more faults, all servers up; then every outcome is waited for, at last on a chain that is past every authorization. */
export const conclude = async (world: Struck, shop: Shop, purchases: ReadonlyArray<Purchase>) => {
  const violations: Array<string> = []
  world.log("the last strikes are over")
  await clusterRests()
  for (const wire of [world.pg, world.rpc, world.facilitator, world.cards, world.door]) wire.calm()
  world.cards.finish()
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
  await hasten(world)
  await carryOn(shop, purchases, 60_000)
  world.log("every outcome is known, or never will be")
  for (const { key, order: wanted } of openIn(purchases)) {
    violations.push(`the outcome of ${wanted.kind} ${key} stays unknown`)
  }
  for (const end = performance.now() + 60_000; ; await setTimeout(1_500)) {
    const [row] = await unfinished(world)
    if (row?.["pending"] === 0 && row["unfinal"] === 0) break
    if (performance.now() < end) {
      await hasten(world)
      continue
    }
    violations.push(`a minute later ${String(row?.["pending"])} are pending, ${String(row?.["unfinal"])} not final`)
    break
  }
  return violations
}
