/** The world of a phase: a chain, a database and servers of its own, and wires between all of them. */
import { Effect, Exit, Scope } from "effect"
import { challengeSecret } from "../../lab/buyer/Cards.ts"
import { network } from "../../lab/Chain.ts"
import { serverGroup } from "../../lab/server/ServerGroup.ts"
import * as CardProcessor from "../../lab/proxy/CardProcessor.ts"
import { chain, walletsOf } from "../../lab/OwnChain.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import * as Facilitator from "../../lab/proxy/Facilitator.ts"
import * as Postgres from "../../lab/proxy/Postgres.ts"
import type { Random } from "../../lab/Random.ts"
import * as Node from "../../lab/proxy/Node.ts"
import { canSkewClocks } from "../../lab/server/ServerProcess.ts"

export interface HarnessOptions {
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
export const build = async (options: HarnessOptions, random: Random) => {
  const { cluster, folder, log, number, seed, settledBy } = options
  const database = `fire_${seed}_${number}`.replaceAll("-", "_")
  await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  await cluster.run(`CREATE DATABASE ${database}`)
  const wallets = walletsOf(random.fork("wallets"), 32)
  const ground = await chain(wallets, 200_000_000n)
  const scope = Scope.makeUnsafe()
  const { cards, facilitator, pg, rpc } = await Effect.runPromise(
    Effect.all({
      pg: Postgres.make(cluster.urlOf(database), random.fork("database")),
      rpc: Node.make(ground.rpcUrl, random.fork("node")),
      facilitator: Facilitator.make({ network, rpcUrl: ground.rpcUrl }, random.fork("facilitator")),
      cards: CardProcessor.make(random.fork("cards")),
    }).pipe(Scope.provide(scope)),
  )
  const skew = canSkewClocks && random.chance(0.3) ? random.pick([-300, 300]) : 0
  const ours = await serverGroup({
    folder,
    count: options.servers,
    skewSeconds: skew,
    databaseUrl: cluster.urlOf(database, pg.port),
    rpcUrl: rpc.url,
    payTo: ground.payTo,
    environment: {
      ...(settledBy === "relayer" ? { RELAYER_KEY: ground.relayerKey } : { FACILITATOR_URL: facilitator.url }),
      CARD_PROFILE_ID: CardProcessor.profile,
      CARD_SECRET_KEY: CardProcessor.secretKey,
      CARD_CHALLENGE_SECRET: challengeSecret,
      CARD_API_URL: cards.url,
    },
    proxy: options.withHaproxy ? { probe: "/livez", redispatches: false, isHeard: false } : undefined,
    random: random.fork("door"),
  })
  if (skew !== 0) log(`the clock of server-0 is ${skew} s off`)
  return {
    settledBy,
    database,
    cluster,
    pg,
    rpc,
    facilitator,
    cards,
    wallets,
    log,
    answers: ours.answers,
    door: ours.door,
    servers: ours.servers,
    url: ours.url,
    chain: ground,
    /** How often each fault struck. */
    struck: new Map<string, number>(),
    /** By how many seconds the clock of the first server is ahead. */
    skewSeconds: skew,
    close: async () => {
      await ours.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await ground.close()
      await cluster.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    },
  }
}

/** All parts of a phase, as those who strike, buy and steal see them. */
export type Harness = Awaited<ReturnType<typeof build>>
