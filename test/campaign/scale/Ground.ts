/** Servers as processes on one database and one chain, behind haproxy: what a run that grows or fails over stands on. */
import { setTimeout } from "node:timers/promises"
import { audit } from "../../audit/Audit.ts"
import { chain, walletsOf } from "../../lab/OwnChain.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import { door } from "../../lab/proxy/Tcp.ts"
import type { Random } from "../../lab/Random.ts"
import { fleet, hasten, unfinishedIn } from "../../lab/server/ServerGroup.ts"

export interface GroundOptions {
  readonly cluster: Cluster
  readonly folder: string
  /** As many are prepared; none runs yet. */
  readonly servers: number
  readonly random: Random
  readonly log: (line: string) => void
}

export const ground = async ({ cluster, folder, log, random, servers: count }: GroundOptions) => {
  const wallets = walletsOf(random.fork("wallets"), 24)
  const on = await chain(wallets, 500_000_000n)
  // The database's address, which leads to another one after a failover.
  const database = await door(random.fork("database"))
  database.leadTo([cluster.port()])
  const ours = await fleet({
    folder,
    count,
    skewSeconds: 0,
    databaseUrl: cluster.urlOf("altar", database.port),
    rpcUrl: on.rpcUrl,
    payTo: on.payTo,
    environment: { RELAYER_KEY: on.relayerKey },
    proxy: { probe: "/readyz", redispatches: true, isHeard: true },
    random: random.fork("entrance"),
  })
  const { answers, servers, url } = ours

  /** Waits until nothing is pending and everything is final; answers what is not after a minute. */
  const rests = async (): Promise<ReadonlyArray<string>> => {
    for (const end = performance.now() + 60_000; ; await setTimeout(1_000)) {
      await on.mine(2)
      await hasten(cluster)
      const { pending, unfinal } = await unfinishedIn(cluster)
      if (pending + unfinal === 0) return []
      if (performance.now() > end) return [`${pending} are pending, ${unfinal} not final`]
    }
  }

  return {
    chain: on,
    cluster,
    database,
    servers,
    wallets,
    url,
    answers,
    rests,
    /** What the auditor finds wrong; `answersFile` is null where answers are known to be lost. */
    audited: (answersFile: string | null) =>
      audit({
        databaseUrl: cluster.urlOf("altar"),
        rpcUrl: on.rpcUrl,
        servers: servers.filter((one) => one.isRunning()).map((one) => one.url),
        token: on.asset,
        payTo: on.payTo,
        answersFile,
        isQuiet: true,
        log: (line) => log(`audit: ${line}`),
      }),
    close: async () => {
      await ours.close()
      database.close()
      await on.close()
    },
  }
}

export type Ground = Awaited<ReturnType<typeof ground>>
