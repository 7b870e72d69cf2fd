/** Servers as processes on one database and one chain, behind haproxy: what a run that grows or fails over stands on. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { audit } from "../fire/audit/Audit.ts"
import { answers } from "../fire/Answers.ts"
import { chain, network, walletsOf } from "../fire/Chain.ts"
import type { Cluster } from "../fire/Cluster.ts"
import { door } from "../fire/Door.ts"
import { haproxy } from "../fire/Haproxy.ts"
import type { Random } from "../fire/Random.ts"
import { server } from "../fire/Servers.ts"

/** A key of nobody: the log of a run is thrown away with it. */
const logKey = "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP"

export interface GroundOptions {
  readonly cluster: Cluster
  readonly folder: string
  /** As many are prepared; none runs yet. */
  readonly servers: number
  readonly random: Random
  readonly log: (line: string) => void
}

export const ground = async ({ cluster, folder, log, random, servers: count }: GroundOptions) => {
  await mkdir(folder, { recursive: true })
  const wallets = walletsOf(random.fork("wallets"), 24)
  const on = await chain(wallets, 500_000_000n)
  // The database's address, which leads to another one after a failover.
  const database = await door(random.fork("database"))
  database.leadTo([cluster.port()])
  const entrance = await door(random.fork("entrance"))
  const url = `http://127.0.0.1:${entrance.port}`
  const servers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      server({
        name: `server-${index}`,
        folder,
        skewSeconds: 0,
        environment: {
          PUBLIC_URL: url,
          DATABASE_URL: `${cluster.urlOf("altar", database.port)}?sslmode=disable`,
          X402_NETWORK: network,
          RPC_URL: on.rpcUrl,
          PAY_TO: on.payTo,
          RELAYER_KEY: on.relayerKey,
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
  const proxy = await haproxy({ folder, ports, probe: "/readyz", redispatches: true, isHeard: true })
  entrance.leadTo([proxy.port])
  const heard = answers(join(folder, "answers.jsonl"), url)

  /** Waits until nothing is pending and everything is final; answers what is not after a minute. */
  const rests = async (): Promise<ReadonlyArray<string>> => {
    for (const end = performance.now() + 60_000; ; await setTimeout(1_000)) {
      await on.mine(2)
      // Nobody waits as long as a server would for its next look.
      await cluster.run(
        `UPDATE payment_attempts SET next_check_at = '2000-01-01'
        WHERE (state = 'pending' OR state = 'settled' AND finality = 'pending') AND next_check_at > now()`,
      )
      const [row] = await cluster.run(
        `SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
          count(*) FILTER (WHERE state = 'settled' AND finality = 'pending')::int AS unfinal FROM payment_attempts`,
      )
      if (row?.["pending"] === 0 && row["unfinal"] === 0) return []
      if (performance.now() > end) return [`${row?.["pending"]} are pending, ${row?.["unfinal"]} not final`]
    }
  }

  return {
    chain: on,
    cluster,
    database,
    servers,
    wallets,
    url,
    answers: heard,
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
      await Promise.all(servers.map((one) => one.kill()))
      proxy.close()
      entrance.close()
      database.close()
      await on.close()
      await heard.close()
    },
  }
}

export type Ground = Awaited<ReturnType<typeof ground>>
