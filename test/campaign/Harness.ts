/** Our servers as processes on one database and one chain: a proxy stands before each, and every answer is recorded. */
import { appendFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { audit, type AuditReport } from "../audit/Audit.ts"
import { answers as answersIn } from "../lab/buyer/AnswerLog.ts"
import { facilitatorAccount, network } from "../lab/Chain.ts"
import type { Cluster } from "../lab/Cluster.ts"
import { chain as ownChain, walletsOf } from "../lab/OwnChain.ts"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import * as Facilitator from "../lab/proxy/Facilitator.ts"
import * as Node from "../lab/proxy/Node.ts"
import * as Postgres from "../lab/proxy/Postgres.ts"
import { tcpProxy } from "../lab/proxy/Tcp.ts"
import type { Random } from "../lab/Random.ts"
import { server } from "../lab/server/ServerProcess.ts"

/** A key of no altar: the log of a run is deleted with it. */
const logKey = "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP"

interface HarnessOptions {
  readonly cluster: Cluster
  readonly database: string
  readonly folder: string
  /** The number of servers, none of which runs yet. */
  readonly count: number
  readonly settledBy: "relayer" | "facilitator"
  readonly random: Random
  readonly log: (line: string) => void
}

export const harness = async (options: HarnessOptions) => {
  const { cluster, count, database, folder, log, random, settledBy } = options
  await mkdir(folder, { recursive: true })
  const wallets = walletsOf(random.fork("wallets"), 32)
  const chain = await ownChain(wallets, 500_000_000n)
  const scope = Scope.makeUnsafe()
  const { cards, facilitator, pg, rpc } = await Effect.runPromise(
    Effect.all({
      pg: Postgres.make(cluster.urlOf(database), random.fork("database")),
      rpc: Node.make(chain.rpcUrl, random.fork("node")),
      facilitator: Facilitator.make({ network, rpcUrl: chain.rpcUrl }, random.fork("facilitator")),
      cards: CardProcessor.make(random.fork("cards")),
    }).pipe(Scope.provide(scope)),
  )
  const door = await tcpProxy(random.fork("door"))
  const url = `http://127.0.0.1:${door.port}`
  const servers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      server({
        name: `server-${index}`,
        hear: (text) => appendFileSync(join(folder, `server-${index}.log`), text),
        environment: {
          PUBLIC_URL: url,
          DATABASE_URL: `${cluster.urlOf(database, pg.port)}?sslmode=disable`,
          X402_NETWORK: network,
          RPC_URL: rpc.url,
          PAY_TO: chain.payTo,
          ...(settledBy === "relayer" ? { RELAYER_KEY: chain.relayerKey } : { FACILITATOR_URL: facilitator.url }),
          CARD_PROFILE_ID: CardProcessor.profile,
          CARD_SECRET_KEY: CardProcessor.secretKey,
          CARD_API_URL: cards.url,
          TEST_SETTLE_SECONDS: "4",
          TEST_SWEEP_SECONDS: "1",
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
  door.leadTo(ports)
  const answers = answersIn(join(folder, "answers.jsonl"), url)

  /** Attempts in flight, and settled acts whose payments are not final; a card's is at once. */
  const unfinished = "(state = 'pending' OR state = 'settled' AND finality = 'pending' AND rail = 'x402')"
  /** Makes the next inquiry due now, also by a clock that is behind. */
  const hasten = () =>
    cluster.run(
      `UPDATE payment_attempts SET next_check_at = '2000-01-01' WHERE ${unfinished} AND next_check_at > '2000-01-01'`,
      database,
    )

  return {
    cluster,
    database,
    settledBy,
    pg,
    rpc,
    facilitator,
    cards,
    wallets,
    chain,
    door,
    servers,
    url,
    answers,
    log,
    hasten,
    /** Starts the servers and waits until they are ready. */
    start: async () => {
      for (const one of servers) one.start()
      for (const one of servers)
        if (!(await one.ready(120_000))) throw new Error(`${one.name} did not start: see ${folder}`)
    },
    /** Waits until every attempt has ended and every payment is final; answers what is open after a minute. */
    rests: async (): Promise<ReadonlyArray<string>> => {
      for (const end = performance.now() + 60_000; ; await setTimeout(1_000)) {
        await chain.mine(2)
        await hasten()
        const [row] = await cluster.run(
          `SELECT count(*)::int AS open, string_agg(state, ' ') AS states FROM payment_attempts WHERE ${unfinished}`,
          database,
        )
        if (row?.["open"] === 0) return []
        if (performance.now() > end) return [`a minute later these attempts are unfinished: ${String(row?.["states"])}`]
      }
    },
    /** The auditor's report on the running servers. */
    audited: (): Promise<AuditReport> =>
      audit({
        databaseUrl: cluster.urlOf(database),
        rpcUrl: chain.rpcUrl,
        servers: servers.filter((one) => one.isRunning()).map((one) => one.url),
        token: chain.asset,
        payTo: chain.payTo,
        answersFile: answers.file,
        settlers: settledBy === "facilitator" ? [facilitatorAccount] : [],
        cards: { url: cards.url, secretKey: CardProcessor.secretKey },
        isQuiet: true,
        log: (line) => log(`audit: ${line}`),
      }),
    close: async () => {
      await Promise.all(servers.map((one) => one.kill()))
      door.close()
      await answers.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await chain.close()
    },
  }
}

export type Harness = Awaited<ReturnType<typeof harness>>
