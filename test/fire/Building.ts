/** The world of a phase: a chain, a database and servers of its own, and wires between all of them. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { answers } from "./Answers.ts"
import { cardWire } from "./CardWire.ts"
import { chain, network, walletsOf } from "./Chain.ts"
import type { Cluster } from "./Cluster.ts"
import { door } from "./Door.ts"
import { facilitatorWire } from "./FacilitatorWire.ts"
import { haproxy } from "./Haproxy.ts"
import { pgWire } from "./PgWire.ts"
import type { Random } from "./Random.ts"
import { rpcWire } from "./RpcWire.ts"
import { canSkewClocks, server } from "./Servers.ts"
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

/** A key of nobody: the log of a campaign is thrown away with it. */
const logKey = "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP"

/** Nothing of it runs yet but what servers need. */
export const build = async (
  options: BuildingOptions,
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
  const cards = await cardWire(random.fork("cards"))
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
          ...cards.environment,
          SETTLE_TIMEOUT_SECONDS: "4",
          SWEEP_SECONDS: "1",
          TRUSTED_PROXIES: "127.0.0.1",
          LOG_KEY: logKey,
          LOG_ORIGIN: "webtessera.fixture.log",
          LOG_CHECKPOINT_FILE: join(folder, `checkpoint-${index}`),
          LOG_LEVEL: "Warn",
        },
      }),
    ),
  )
  const ports = servers.map(({ port }) => port)
  const proxy = options.withHaproxy
    ? await haproxy({ folder, ports, probe: "/livez", redispatches: false, isHeard: false })
    : undefined
  entrance.leadTo(proxy === undefined ? ports : [proxy.port])
  const stand = standing({ cluster, database, rpc, facilitator, cards })
  const heard = answers(join(folder, "answers.jsonl"), url)
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
    door: entrance,
    servers,
    wallets,
    answers: heard,
    tally: tally(),
    standing: stand,
    url,
    log,
    skewSeconds: skew,
    close: async () => {
      await Promise.all(servers.map((one) => one.kill()))
      stand.close()
      proxy?.close()
      entrance.close()
      facilitator.close()
      await cards.close()
      rpc.close()
      pg.close()
      await ground.close()
      await heard.close()
      await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    },
  }
}
