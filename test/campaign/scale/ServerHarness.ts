/** Servers as processes on one database and one chain behind haproxy, buyers who never stop, and the auditor. */
import { setTimeout } from "node:timers/promises"
import { audit } from "../../audit/Audit.ts"
import { buy, newPurchase, type Purchase, type BuyerOptions } from "../../lab/buyer/Buyer.ts"
import { catalogAt } from "../../lab/buyer/Goods.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import { chain, walletsOf } from "../../lab/OwnChain.ts"
import { tcpProxy } from "../../lab/proxy/Tcp.ts"
import type { Random } from "../../lab/Random.ts"
import { serverGroup, hasten, unfinishedIn } from "../../lab/server/ServerGroup.ts"

export interface ServerHarnessOptions {
  readonly cluster: Cluster
  readonly folder: string
  /** As many are prepared; none runs yet. */
  readonly servers: number
  readonly random: Random
  readonly log: (line: string) => void
}

/** Milliseconds of `performance.now()`; `status` is 0 where no answer came. */
interface Request {
  readonly from: number
  readonly until: number
  readonly status: number
  readonly what: string
}

/** A client that hangs up on its own request after less than this heard no error of ours, ms. */
const hangsUp = 1_000

export const serverHarness = async ({ cluster, folder, log, random, servers: count }: ServerHarnessOptions) => {
  const wallets = walletsOf(random.fork("wallets"), 24)
  const on = await chain(wallets, 500_000_000n)
  // The database's address, which leads to another one after a failover.
  const database = await tcpProxy(random.fork("database"))
  database.leadTo([cluster.port()])
  const ours = await serverGroup({
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
  const purchases: Array<Purchase> = []
  const requests: Array<Request> = []
  const shop: BuyerOptions = {
    url,
    answers: {
      ...answers,
      ask: async (asked, patienceMs) => {
        const from = performance.now()
        const heard = await answers.ask(asked, patienceMs)
        if (heard !== undefined || patienceMs >= hangsUp) {
          const what = `${asked.method} ${new URL(asked.url).pathname}`
          requests.push({ from, until: performance.now(), status: heard?.status ?? 0, what })
        }
        return heard
      },
    },
    chainNow: on.now,
    signed: () => Promise.resolve(),
  }

  return {
    chain: on,
    cluster,
    database,
    servers,
    shop,
    purchases,
    requests,
    /** Starts the first ones, and buyers who buy until they are told to stop. */
    load: async (running: number, buyers: number) => {
      for (const one of servers.slice(0, running)) one.start()
      for (const one of servers.slice(0, running))
        if (!(await one.ready(120_000))) throw new Error(`${one.name} did not start: see ${folder}`)
      // haproxy asks a server twice before it sends it anything.
      await setTimeout(1_500)
      const catalog = await catalogAt(url)
      const over = new AbortController()
      const chance = random.fork("buyers")
      let end = Infinity
      const workers = Array.from({ length: buyers }, async (_, worker) => {
        for (let turn = 0; !over.signal.aborted; turn += 1) {
          const told = { number: purchases.length, key: "scale", lives: [280, 280] } as const
          const purchase = newPurchase(chance.fork(`${worker}/${turn}`), catalog, wallets, told)
          purchases.push(purchase)
          await buy(shop, purchase, () => performance.now() > end)
        }
      })
      /** No purchase is begun any more; answers when each that was has its outcome, or two minutes are over. */
      return async () => {
        over.abort()
        end = performance.now() + 120_000
        await Promise.all(workers)
      }
    },
    /** Waits until nothing is pending and everything is final; answers what is not after a minute. */
    rests: async (): Promise<ReadonlyArray<string>> => {
      for (const end = performance.now() + 60_000; ; await setTimeout(1_000)) {
        await on.mine(2)
        await hasten(cluster)
        const { pending, unfinal } = await unfinishedIn(cluster)
        if (pending + unfinal === 0) return []
        if (performance.now() > end) return [`${pending} are pending, ${unfinal} not final`]
      }
    },
    /** What the auditor finds wrong, and what stays unknown; answers are left out where they are known to be lost. */
    audited: async (withAnswers: boolean) => {
      const { checks, violations } = await audit({
        databaseUrl: cluster.urlOf("altar"),
        rpcUrl: on.rpcUrl,
        servers: servers.filter((one) => one.isRunning()).map((one) => one.url),
        token: on.asset,
        payTo: on.payTo,
        answersFile: withAnswers ? answers.file : null,
        isQuiet: true,
        log: (line) => log(`audit: ${line}`),
      })
      const open = purchases.filter(({ outcome }) => outcome === undefined).length
      return {
        examined: checks.reduce((sum, { examined }) => sum + examined, 0),
        violations: [
          ...violations,
          ...(open === 0 ? [] : [{ check: "every outcome is known", what: `${open} outcomes stay unknown` }]),
        ],
      }
    },
    close: async () => {
      await ours.close()
      database.close()
      await on.close()
    },
  }
}

export type ServerHarness = Awaited<ReturnType<typeof serverHarness>>

/** How many purchases ended how. */
export const endings = (purchases: ReadonlyArray<Purchase>) => {
  const whatOf = ({ outcome }: Purchase) =>
    outcome === undefined ? "open" : "reason" in outcome ? `${outcome._tag}: ${outcome.reason}` : outcome._tag
  return [...Map.groupBy(purchases, whatOf)].map(([what, all]) => `${all.length} ${what}`).join(", ")
}
