/** The world of a phase: a chain, a database and servers of its own, and wires between all of them. */
import { fleet } from "../support/Fleet.ts"
import { cardWire } from "./CardWire.ts"
import { chain, walletsOf } from "./Chain.ts"
import type { Cluster } from "./Cluster.ts"
import { facilitatorWire } from "./FacilitatorWire.ts"
import { pgWire } from "./PgWire.ts"
import type { Random } from "./Random.ts"
import { rpcWire } from "./RpcWire.ts"
import { canSkewClocks } from "./Servers.ts"
import { standing } from "./Standing.ts"
import { tally } from "./Tally.ts"
import type { World } from "./World.ts"

export interface BuildingOptions {
  readonly seed: number
  readonly number: number
  readonly servers: number
  readonly settledBy: "relayer" | "facilitator"
  readonly withHaproxy: boolean
  /** Logs and answers of this phase. */
  readonly folder: string
  readonly cluster: Cluster
  readonly log: (line: string) => void
}

/** Nothing of it runs yet but what servers need. */
export const build = async (
  options: BuildingOptions,
  random: Random,
): Promise<World & { readonly close: () => Promise<void> }> => {
  const { cluster, folder, log, number, seed, settledBy } = options
  const database = `fire_${seed}_${number}`.replaceAll("-", "_")
  await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  await cluster.run(`CREATE DATABASE ${database}`)
  const wallets = walletsOf(random.fork("wallets"), 32)
  const ground = await chain(wallets, 200_000_000n)
  const pg = await pgWire(cluster.port, random.fork("database"))
  const rpc = await rpcWire(ground.rpcUrl, random.fork("node"))
  const facilitator = await facilitatorWire(ground.rpcUrl, random.fork("facilitator"))
  const cards = await cardWire(random.fork("cards"))
  const skew = canSkewClocks && random.chance(0.3) ? random.pick([-300, 300]) : 0
  const ours = await fleet({
    folder,
    count: options.servers,
    skewSeconds: skew,
    databaseUrl: cluster.urlOf(database, pg.port),
    rpcUrl: rpc.url,
    payTo: ground.payTo,
    environment: {
      ...(settledBy === "relayer" ? { RELAYER_KEY: ground.relayerKey } : { FACILITATOR_URL: facilitator.url }),
      ...cards.environment,
    },
    proxy: options.withHaproxy ? { probe: "/livez", redispatches: false, isHeard: false } : undefined,
    random: random.fork("door"),
  })
  const stand = standing({ cluster, database, rpc, facilitator, cards })
  if (skew !== 0) log(`the clock of server-0 is ${skew} s off`)
  return {
    settledBy,
    database,
    cluster,
    chain: ground,
    pg,
    rpc,
    facilitator,
    cards,
    door: ours.door,
    servers: ours.servers,
    wallets,
    answers: ours.answers,
    tally: tally(),
    standing: stand,
    url: ours.url,
    log,
    skewSeconds: skew,
    close: async () => {
      await ours.close()
      stand.close()
      facilitator.close()
      await cards.close()
      rpc.close()
      pg.close()
      await ground.close()
      await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    },
  }
}
