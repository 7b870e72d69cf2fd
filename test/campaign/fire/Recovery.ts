/** The end of a phase: all faults end, and every outcome is awaited. */
import { Effect } from "effect"
import { shopFor, type Purchase, type Shop } from "./Shopper.ts"
import { clusterRests, type Struck } from "./Strikes.ts"

export const buyers = 80
const openIn = (purchases: ReadonlyArray<Purchase>) => purchases.filter(({ outcome }) => outcome === undefined)

/** Asks for the outcomes that are open, some at a time. */
const carryOn = async (shop: Shop, purchases: ReadonlyArray<Purchase>, patienceMs: number) => {
  const end = performance.now() + patienceMs
  const waiting = openIn(purchases)
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
      await shopFor(shop, one, () => performance.now() > end)
  }
  await Promise.all(Array.from({ length: buyers }, worker))
}

const recover = async (world: Struck) => {
  const violations: Array<string> = []
  await clusterRests()
  for (const proxy of [world.pg, world.rpc, world.facilitator, world.cards]) await Effect.runPromise(proxy.calm)
  world.door.calm()
  await Effect.runPromise(world.cards.finish)
  await world.cluster.run("SELECT 1")
  for (const one of world.servers) if (!one.isRunning()) one.start()
  for (const one of world.servers)
    if (!(await one.ready(40_000))) violations.push(`${one.name} was not ready 40 s after all was well again`)
  return violations
}

/** Awaits every outcome when the faults are over, at last on a chain past every authorization. */
export const conclude = async (world: Struck, shop: Shop, purchases: ReadonlyArray<Purchase>) => {
  world.log("the last strikes are over")
  const violations = await recover(world)
  await world.outsiders.done()
  await carryOn(shop, purchases, 15_000)
  world.log(`all is well again; ${openIn(purchases).length} of ${purchases.length} outcomes are open`)
  const last = Math.max(0, ...purchases.map(({ signed }) => Number(signed?.payload.authorization.validBefore ?? 0)))
  const now = await world.chain.now()
  if (now <= last) await world.chain.shift(last - now + 10)
  await world.chain.mine(4)
  await world.hasten()
  await carryOn(shop, purchases, 60_000)
  for (const { key, order } of openIn(purchases)) violations.push(`the outcome of ${order.kind} ${key} stays unknown`)
  return [...violations, ...(await world.rests())]
}
