/** Every fault that a campaign knows, by name: its effect on a harness, and its end. */
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { Client } from "undici"
import { defaultLimits } from "../../../src/http/Listener.ts"
import type { View } from "../../lab/proxy/NodeViews.ts"
import { lies as cardLies } from "../../lab/proxy/CardFaults.ts"
import { lies, supportLies } from "../../lab/proxy/Facilitator.ts"
import type { Outsiders } from "./Outsiders.ts"
import type { PostgresFault } from "../../lab/proxy/Postgres.ts"
import type { Random } from "../../lab/Random.ts"
import type { NodeFault } from "../../lab/proxy/Node.ts"
import type { Server } from "../../lab/server/ServerProcess.ts"
import type { Harness } from "../Harness.ts"

export interface Struck extends Harness {
  readonly outsiders: Outsiders
}

export type Fit = Pick<Harness, "settledBy">

export interface Strike {
  readonly name: string
  readonly isKill?: boolean
  /** Where it means anything at all. */
  readonly fits?: (world: Fit) => boolean
  /** Resolves when the fault has ended by itself. */
  readonly run: (world: Struck, random: Random) => Promise<void>
}

/** One strike at a time on the cluster: it cannot be killed while it starts. */
let clusterTurn: Promise<unknown> = Promise.resolve()
const inTurn = (work: () => Promise<void>) => {
  const mine = clusterTurn.then(work)
  clusterTurn = mine.catch(() => {})
  return mine
}

export const clusterRests = () => clusterTurn

/** One that runs is ended, and started again a moment later. */
const serverKill =
  (end: (server: Server, log: Harness["log"]) => Promise<unknown>): Strike["run"] =>
  async ({ log, servers }, random) => {
    const first = random.below(servers.length)
    const find = () => [...servers.slice(first), ...servers].find((one) => one.isRunning())
    let found = find()
    for (let left = 100; found === undefined && left > 0; left -= 1) {
      await setTimeout(100)
      found = find()
    }
    if (found === undefined) throw new Error("no server has run for ten seconds")
    await end(found, log)
    await setTimeout(random.between(0, 1_500))
    if (!found.isRunning()) found.start()
  }

/** The database is ended, and started again a moment later. */
const databaseKill =
  (end: (cluster: Harness["cluster"]) => Promise<void>): Strike["run"] =>
  ({ cluster }, random) =>
    inTurn(async () => {
      await end(cluster)
      await setTimeout(random.between(0, 1_500))
      await cluster.start()
    })

const anyStatement = /./u
const commit = /^\s*COMMIT\s*$/iu
const writes = /\b(?:INSERT|UPDATE|DELETE)\b/u

const lasting = (random: Random) => setTimeout(random.between(600, 4_000))
/** Few pay by card, so what happens to cards lasts longer. */
const lastingLong = (random: Random) => setTimeout(random.between(3_000, 8_000))

const armed = (
  name: string,
  arm: (world: Struck, random: Random, head: bigint) => { readonly end: () => void },
  lasts = lasting,
): Strike => ({
  name,
  run: async (world, random) => {
    const { end } = arm(world, random, await world.chain.client.getBlockNumber({ cacheTime: 0 }))
    await lasts(random)
    end()
  },
})

const onWire = (name: string, fault: (random: Random) => PostgresFault, statements = anyStatement, rate = 1) =>
  armed(`database: ${name}`, ({ pg }, random) => pg.arm(statements, fault(random), rate))

/** Blocks are orphaned; their transactions return later, in another order, or never. */
const reorganise =
  (comesBack: "soon" | "never" | "some"): Strike["run"] =>
  async ({ chain, rpc }, random) => {
    const hashes = await chain.reorganise(random.between(1, 2))
    if (comesBack === "never") return
    await setTimeout(random.between(0, 4_000))
    for (const hash of hashes.toReversed()) {
      const raw = rpc.raw.get(hash)
      if (raw === undefined || (comesBack === "some" && random.chance(0.5))) continue
      await chain.client.sendRawTransaction({ serializedTransaction: raw }).catch(() => {})
    }
  }

const nodes: ReadonlyArray<readonly [string, (random: Random) => NodeFault, number, string?]> = [
  ["requests lost", () => "dropBefore", 0.4],
  ["answers lost", () => "dropAfter", 0.4],
  ["500", () => "status500", 0.5],
  ["429", () => "rateLimit", 0.5],
  ["rate limit as an error", () => "refusal", 0.4],
  ["a page of HTML", () => "nonsense", 0.4],
  ["null to everything", () => "nothing", 0.3],
  ["stalls", (random) => ({ delayMs: random.between(1_000, 12_000) }), 0.3],
  ["swallows transactions", () => "swallow", 0.6, "eth_sendRawTransaction"],
  ["takes transactions and denies it", () => "deny", 0.6, "eth_sendRawTransaction"],
]

const views: ReadonlyArray<readonly [string, (random: Random, head: bigint) => ReadonlyArray<View>]> = [
  ["lags", (random, head) => [{ head: head - BigInt(random.between(0, 3)) }]],
  [
    "lags, and answers for what it does not know",
    (random, head) => [{ head: head - BigInt(random.between(0, 3)), clamps: true }],
  ],
  ["forgets receipts", () => [{ forgets: ["receipts"] }, {}]],
  ["forgets logs", () => [{ forgets: ["logs"] }, {}]],
  [
    "several that contradict each other",
    (random, head) => [
      {},
      { head: head - BigInt(random.between(1, 3)), clamps: true },
      { forgets: ["receipts", "logs"] },
    ],
  ],
  ["gives logs of few blocks", () => [{ logRange: 5 }]],
  ["keeps few states", () => [{ keepsStates: 2 }]],
  ["knows no block hashes", () => [{ numbersOnly: true }]],
]

/** Loopback has sixteen million addresses, from which a client may choose. */
const local = (index: number) => `127.${16 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`

const isFacilitated: Strike["fits"] = ({ settledBy }) => settledBy === "facilitator"

export const strikes: ReadonlyArray<Strike> = [
  {
    name: "server: SIGKILL",
    isKill: true,
    run: serverKill((server) => server.kill()),
  },
  {
    name: "server: SIGTERM",
    isKill: true,
    run: serverKill(async (server, log) => {
      if (!(await server.stop())) log(`${server.name} did not end within a minute of SIGTERM`)
    }),
  },
  { name: "database: SIGKILL", isKill: true, run: databaseKill((cluster) => cluster.kill()) },
  { name: "database: immediate stop", isKill: true, run: databaseKill((cluster) => cluster.stopImmediately()) },
  {
    name: "database: a session killed",
    isKill: true,
    run: ({ cluster, database }) => inTurn(() => cluster.killSession(database)),
  },
  { name: "database: connections cut", run: async ({ pg }) => pg.cutAll() },
  {
    name: "database: connections refused",
    run: async ({ pg }, random) => {
      pg.refuse(true)
      pg.cutAll()
      await lasting(random)
      pg.refuse(false)
    },
  },
  onWire("40001", () => ({ sqlstate: "40001" }), anyStatement, 0.2),
  onWire("40P01", () => ({ sqlstate: "40P01" }), writes, 0.3),
  onWire("40001 at COMMIT", () => ({ sqlstate: "40001" }), commit, 0.5),
  onWire("40P01 at COMMIT", () => ({ sqlstate: "40P01" }), commit, 0.5),
  onWire("disk full (53100)", () => ({ sqlstate: "53100" }), writes, 0.7),
  onWire("cut before a statement", () => "cutBefore", anyStatement, 0.03),
  onWire("cut after a statement", () => "cutAfter", anyStatement, 0.03),
  onWire("cut after COMMIT", () => "cutAfter", commit, 0.5),
  onWire("stalls", (random) => ({ delayMs: random.between(500, 6_000) }), anyStatement, 0.05),
  {
    name: "database: read-only (25006)",
    run: ({ cluster }, random) =>
      inTurn(async () => {
        const set = async (value: string) => {
          await cluster.run(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
          await cluster.run("SELECT pg_reload_conf()")
        }
        await set("on")
        await lasting(random)
        await set("off")
      }),
  },
  ...nodes.map(([name, fault, rate, method = "*"]) =>
    armed(`node: ${name}`, ({ rpc }, random) => rpc.arm(method, fault(random), () => true, rate)),
  ),
  ...views.map(([name, made]) =>
    armed(`node: ${name}`, ({ rpc }, random, head) => {
      const several = made(random, head)
      return rpc.arm("*", { views: () => random.pick(several) })
    }),
  ),
  { name: "chain: reorganised, comes back elsewhere", run: reorganise("soon") },
  { name: "chain: reorganised, some come back", run: reorganise("some") },
  { name: "chain: reorganised, never comes back", run: reorganise("never") },
  {
    name: "facilitator: takes no connection",
    fits: isFacilitated,
    run: async ({ facilitator }, random) => {
      await Effect.runPromise(facilitator.leave)
      await lasting(random)
      await Effect.runPromise(facilitator.comeBack)
    },
  },
  ...[...lies, ...supportLies].map((lie): Strike => ({
    ...armed(`facilitator: ${lie}`, ({ facilitator }) => facilitator.arm(lie, "broadcast", 0.6)),
    fits: isFacilitated,
  })),
  ...cardLies.map((lie) => armed(`card: ${lie}`, ({ cards }) => cards.arm(lie, "everything", 0.6), lastingLong)),
  armed("card: a mistake that the processor keeps to", ({ cards }) => cards.arm("mistakeAfter"), lastingLong),
  {
    name: "way to the client: refused and cut",
    run: async ({ door }, random) => {
      door.disturb(0.3, 0.15)
      await lasting(random)
      door.disturb(0, 0)
    },
  },
  { name: "way to the client: all cut", run: async ({ door }) => door.cutAll() },
  {
    name: "outsider: connections for all places, which rest",
    run: async ({ servers }, random) => {
      const { url } = random.pick(servers)
      const guests = Array.from(
        { length: defaultLimits.connections },
        (_, at) => new Client(url, { localAddress: local(at), keepAliveTimeout: 60_000 }),
      )
      // Fewer at once than a kernel keeps waiting for one listener.
      for (let from = 0; from < guests.length; from += 128)
        await Promise.allSettled(
          guests
            .slice(from, from + 128)
            .map((one) => one.request({ path: "/livez", method: "GET" }).then(({ body }) => body.dump())),
        )
      await lasting(random)
      await Promise.all(guests.map((one) => one.destroy()))
    },
  },
  { name: "outsider: 256 copies, asked for", run: async ({ outsiders }) => outsiders.replayNext() },
]
