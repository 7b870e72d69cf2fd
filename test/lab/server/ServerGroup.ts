/** Our servers as processes on one database and one chain, by an entrance that leads to haproxy or to them in turn. */
import { appendFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { answers, type Answers } from "../buyer/Answers.ts"
import { network } from "../Chain.ts"
import type { Cluster } from "../Cluster.ts"
import { tcpProxy, type TcpProxy } from "../proxy/Tcp.ts"
import { haproxy, type HaproxyOptions } from "../proxy/Haproxy.ts"
import type { Random } from "../Random.ts"
import { server, type Server } from "./ServerProcess.ts"

/** A key of nobody: the log of a run is thrown away with it. */
const logKey = "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP"

export interface ServerGroupOptions {
  /** Logs and answers go there. */
  readonly folder: string
  /** As many are prepared; none runs yet. */
  readonly count: number
  /** By how many seconds the clock of the first is ahead. */
  readonly skewSeconds: number
  readonly databaseUrl: string
  readonly rpcUrl: string
  readonly payTo: string
  /** How they settle, and what else they are told. */
  readonly environment: Readonly<Record<string, string>>
  /** Without it connections go to the servers in turn. */
  readonly proxy: Pick<HaproxyOptions, "isHeard" | "probe" | "redispatches"> | undefined
  /** Of the entrance. */
  readonly random: Random
}

export interface ServerGroup {
  /** The seller's URL for everybody. */
  readonly url: string
  readonly door: TcpProxy
  readonly servers: ReadonlyArray<Server>
  readonly answers: Answers
  readonly close: () => Promise<void>
}

export const serverGroup = async (options: ServerGroupOptions): Promise<ServerGroup> => {
  const { count, databaseUrl, environment, folder, payTo, random, rpcUrl, skewSeconds } = options
  await mkdir(folder, { recursive: true })
  const entrance = await tcpProxy(random)
  const url = `http://127.0.0.1:${entrance.port}`
  const servers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      server({
        name: `server-${index}`,
        hear: (text) => appendFileSync(join(folder, `server-${index}.log`), text),
        skewSeconds: index === 0 ? skewSeconds : 0,
        environment: {
          PUBLIC_URL: url,
          DATABASE_URL: `${databaseUrl}?sslmode=disable`,
          X402_NETWORK: network,
          RPC_URL: rpcUrl,
          PAY_TO: payTo,
          ...environment,
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
  const proxy = options.proxy === undefined ? undefined : await haproxy({ folder, ports, ...options.proxy })
  entrance.leadTo(proxy === undefined ? ports : [proxy.port])
  const heard = answers(join(folder, "answers.jsonl"), url)
  return {
    url,
    door: entrance,
    servers,
    answers: heard,
    close: async () => {
      await Promise.all(servers.map((one) => one.kill()))
      proxy?.close()
      entrance.close()
      await heard.close()
    },
  }
}

/** Attempts that are open, and settled acts whose payments are not final; a card's is at once. */
export interface Unfinished {
  readonly pending: number
  readonly unfinal: number
}

const openPayments = "(state = 'pending' OR state = 'settled' AND finality = 'pending' AND rail = 'x402')"

export const unfinishedIn = async (cluster: Cluster, database?: string): Promise<Unfinished> => {
  const [row] = await cluster.run(
    `SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
      count(*) FILTER (WHERE state = 'settled')::int AS unfinal FROM payment_attempts WHERE ${openPayments}`,
    database,
  )
  return { pending: Number(row?.["pending"]), unfinal: Number(row?.["unfinal"]) }
}

/** Nobody waits as long as a server would for its next look: it is due, also by the clock of a server that is behind. */
export const hasten = (cluster: Cluster, database?: string) =>
  cluster.run(
    `UPDATE payment_attempts SET next_check_at = '2000-01-01' WHERE ${openPayments} AND next_check_at > '2000-01-01'`,
    database,
  )
