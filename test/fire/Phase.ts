/** One phase: a world of its own, purchases while faults strike, then peace, every outcome, and the auditor. */
import { appendFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { answers } from "./Answers.ts"
import { audit } from "./audit/Audit.ts"
import { buy, type Purchase, type Shop } from "./Buyer.ts"
import { chain, facilitatorAccount, network, walletsOf } from "./Chain.ts"
import type { Cluster } from "./Cluster.ts"
import { door, haproxy } from "./Door.ts"
import { facilitatorWire } from "./FacilitatorWire.ts"
import { catalogAt, order } from "./Goods.ts"
import { outsiders } from "./Outsiders.ts"
import { pgWire } from "./PgWire.ts"
import type { Random } from "./Random.ts"
import { random as randomOf } from "./Random.ts"
import { rpcWire } from "./RpcWire.ts"
import { canSkewClocks, server } from "./Servers.ts"
import { clusterRests, type Strike, strikes, type Struck } from "./Strikes.ts"
import { tally, type Tally } from "./Tally.ts"
import type { World } from "./World.ts"

export interface PhaseOptions {
  readonly seed: number
  readonly number: number
  readonly purchases: number
  readonly kills: number
  readonly servers: number
  readonly settledBy: "relayer" | "facilitator"
  readonly withHaproxy: boolean
  /** Only strikes whose name has this in it. */
  readonly only: string | undefined
  /** Logs and answers of this phase. */
  readonly folder: string
  readonly cluster: Cluster
  readonly log: (line: string) => void
}

export interface PhaseResult {
  readonly purchases: ReadonlyArray<Purchase>
  readonly tally: Tally
  readonly kills: number
  readonly counts: ReadonlyMap<string, number>
  readonly checks: ReadonlyArray<{ readonly name: string; readonly examined: number }>
  readonly violations: ReadonlyArray<string>
}

/** Buyers at a time. */
const buyers = 80
/** Milliseconds after which a buyer leaves an outcome for the end of the phase. */
const leavesAfter = 25_000
/** Other strikes for each kill. */
const strikesForKill = 4

interface Planned {
  readonly strike: Strike
  /** Begins when so many purchases have ended or been left. */
  readonly at: number
  readonly random: Random
}

/** What strikes when is decided before anything begins. */
const planOf = ({ kills, only, purchases }: PhaseOptions, world: World, random: Random): ReadonlyArray<Planned> => {
  const fitting = strikes.filter(
    ({ fits, name }) => fits?.(world) !== false && (only === undefined || name.includes(only)),
  )
  const deadly = fitting.filter(({ isKill }) => isKill === true)
  const others = fitting.filter(({ isKill }) => isKill !== true)
  const draw = (from: ReadonlyArray<Strike>, count: number) =>
    from.length === 0
      ? []
      : Array.from({ length: count }, (_, index): Planned => {
          const at = Math.floor(((index + random.next()) / count) * purchases)
          return { strike: random.pick(from), at, random: random.fork(`strike ${index}`) }
        })
  const planned = [...draw(deadly, kills), ...draw(others, Math.max(strikesForKill * kills, 4))]
  return planned.sort((one, other) => one.at - other.at)
}

/** A key of nobody: the log of a campaign is thrown away with it. */
const logKey = "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP"

const build = async (
  options: PhaseOptions,
  random: Random,
): Promise<World & { readonly close: () => Promise<void> }> => {
  const { cluster, folder, log, number, seed, settledBy } = options
  await mkdir(folder, { recursive: true })
  const database = `fire_${seed}_${number}`.replaceAll("-", "_")
  await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  await cluster.run(`CREATE DATABASE ${database}`)
  const wallets = walletsOf(random.fork("wallets"), 32)
  const ground = await chain(wallets, 200_000_000n)
  const pg = await pgWire(cluster.port, random.fork("database"))
  const rpc = await rpcWire(ground.rpcUrl, random.fork("node"))
  const facilitator = await facilitatorWire(ground.rpcUrl, random.fork("facilitator"))
  const entrance = await door(random.fork("door"))
  const url = `http://127.0.0.1:${entrance.port}`
  const skew = canSkewClocks && random.chance(0.3) ? random.pick([-300, 300]) : 0
  const servers = await Promise.all(
    Array.from({ length: options.servers }, (_, index) =>
      server({
        name: `server-${index}`,
        folder,
        skewSeconds: index === 0 ? skew : 0,
        environment: {
          PUBLIC_URL: url,
          DATABASE_URL: `${cluster.urlOf(database, pg.port)}?sslmode=disable`,
          X402_NETWORK: network,
          RPC_URL: rpc.url,
          PAY_TO: ground.payTo,
          ...(settledBy === "relayer" ? { RELAYER_KEY: ground.relayerKey } : { FACILITATOR_URL: facilitator.url }),
          SETTLE_TIMEOUT_SECONDS: "4",
          SWEEP_SECONDS: "1",
          TRUSTED_PROXIES: "127.0.0.1",
          LOG_KEY: logKey,
          LOG_ORIGIN: "webtessera.fixture.log",
          LOG_LEVEL: "Warn",
        },
      }),
    ),
  )
  const ports = servers.map(({ port }) => port)
  const proxy = options.withHaproxy ? await haproxy(folder, ports) : undefined
  entrance.leadTo(proxy === undefined ? ports : [proxy.port])
  const heard = answers(join(folder, "answers.jsonl"), url)
  if (skew !== 0) log(`  the clock of server-0 is ${skew} s off`)
  return {
    settledBy,
    database,
    cluster,
    chain: ground,
    pg,
    rpc,
    facilitator,
    door: entrance,
    servers,
    wallets,
    answers: heard,
    tally: tally(),
    url,
    log,
    skewSeconds: skew,
    close: async () => {
      await Promise.all(servers.map((one) => one.kill()))
      proxy?.close()
      entrance.close()
      facilitator.close()
      rpc.close()
      pg.close()
      await ground.close()
      await heard.close()
      await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    },
  }
}

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
      count(*) FILTER (WHERE state = 'settled' AND finality = 'pending')::int AS unfinal FROM payment_attempts`,
    world.database,
  )

/** Nobody waits as long as a server would for its next look: it is due. */
const hasten = (world: World) =>
  world.cluster.run(
    `UPDATE payment_attempts SET next_check_at = '2000-01-01'
    WHERE (state = 'pending' OR state = 'settled' AND finality = 'pending') AND next_check_at > now()`,
    world.database,
  )

/** No more faults, all servers up; then every outcome is waited for, at last on a chain that is past every authorization. */
const conclude = async (world: World, shop: Shop, purchases: ReadonlyArray<Purchase>) => {
  const violations: Array<string> = []
  world.log("the last strikes are over")
  await clusterRests()
  for (const wire of [world.pg, world.rpc, world.facilitator, world.door]) wire.calm()
  await world.cluster.run("SELECT 1")
  for (const one of world.servers) {
    if (!one.isRunning()) one.start()
  }
  for (const one of world.servers) {
    if (!(await one.ready(40_000))) violations.push(`${one.name} was not ready 40 s after all was well again`)
  }
  await carryOn(shop, purchases, 15_000)
  const open = openIn(purchases).length
  world.log(`  all is well again; ${open} of ${purchases.length} outcomes are open`)
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

export const runPhase = async (options: PhaseOptions): Promise<PhaseResult> => {
  const { number, seed } = options
  const random = randomOf(`${seed}/${number}`)
  const began = performance.now()
  const log = (line: string) =>
    options.log(`  ${((performance.now() - began) / 1000).toFixed(0).padStart(3)} s ${line.trimStart()}`)
  const world = await build({ ...options, log }, random)
  const violations: Array<string> = []
  try {
    for (const one of world.servers) one.start()
    for (const one of world.servers) {
      if (!(await one.ready(60_000))) throw new Error(`${one.name} did not start: see ${options.folder}`)
    }
    if (world.skewSeconds === 0 && random.chance(0.2)) {
      await world.chain.shift(280)
      log("  the chain's clock is 280 s ahead")
    }
    const catalog = await catalogAt(world.servers[0]?.url ?? world.url)
    const others = outsiders(world, random.fork("outsiders"))
    const struck: Struck = { ...world, outsiders: others }
    const shop: Shop = {
      url: world.url,
      answers: world.answers,
      chainNow: world.chain.now,
      signed: (purchase) => others.see(shop, purchase),
    }
    const plan = [...planOf(options, world, random.fork("plan"))]
    const running = new Set<Promise<void>>()
    let kills = 0
    const strike = ({ random: chance, strike: one }: Planned) => {
      if (one.isKill === true) kills += 1
      const over = world.tally.begin(one.name)
      appendFileSync(join(options.folder, "strikes.log"), `${new Date().toISOString()} ${one.name}\n`)
      const done = one
        .run(struck, chance)
        .catch((cause: unknown) => log(`  ${one.name}: ${String(cause).slice(0, 160)}`))
        .finally(over)
      running.add(done)
      void done.then(() => running.delete(done))
    }

    const shopping = random.fork("orders")
    const purchases = Array.from({ length: options.purchases }, (_, index): Purchase => {
      const chance = shopping.fork(String(index))
      const least = world.skewSeconds > 0 ? 310 : 40
      return {
        number: index,
        order: order(chance, catalog),
        key: `fire-${seed}-${number}-${index}-${chance.hex(4)}`,
        wallet: chance.pick(world.wallets),
        random: chance,
        address: `10.${chance.below(250)}.${chance.below(250)}.${1 + chance.below(250)}`,
        lives: chance.between(least, least + 250),
        signed: undefined,
        outcome: undefined,
        startedAt: 0,
        endedAt: undefined,
      }
    })
    let [begun, left] = [0, 0]
    const strikeDue = () => {
      while (plan[0] !== undefined && plan[0].at <= left) strike(plan.shift() as Planned)
    }
    strikeDue()
    await Promise.all(
      Array.from({ length: buyers }, async () => {
        for (let one = purchases[begun]; one !== undefined; one = purchases[begun]) {
          begun += 1
          one.startedAt = Date.now()
          const leaves = performance.now() + leavesAfter
          await buy(shop, one, () => performance.now() > leaves)
          left += 1
          strikeDue()
        }
      }),
    )
    log("every purchase has begun and been left")
    for (const rest of plan) strike(rest)
    while (running.size > 0) await Promise.all(running)
    violations.push(...(await conclude(world, shop, purchases)))
    await others.done()
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
      isQuiet: true,
      log: (line) => log(`  audit: ${line}`),
    }).catch((cause: unknown) => ({
      checks: [],
      violations: [{ check: "the audit", what: `could not be finished: ${String(cause)}` }],
    }))
    violations.push(...found.violations.map(({ check, what }) => `${check}: ${what}`))
    return { purchases, tally: world.tally, kills, counts: world.answers.counts, checks: found.checks, violations }
  } finally {
    await world.close()
  }
}
