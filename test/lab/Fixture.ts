/** A running altar on a real database and a real chain, and the requests of a paying agent. */
import { randomBytes } from "node:crypto"
import { Duration, Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as Server from "../../src/server/Server.ts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import type { PaymentsConfig } from "../../src/payments/Payments.ts"
import { AppConfig, type ServerConfig } from "../../src/server/config/Config.ts"
import { usdc } from "../../schema/payments/Usdc.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { chain, network } from "./Chain.ts"
import { database, sql } from "./Database.ts"
import { until } from "./Eventually.ts"
import { patience } from "./Patience.ts"
import { freePort } from "./Ports.ts"
import { TestServer } from "./TestServices.ts"

export { Proxies, realClock, TestServer } from "./TestServices.ts"

/** Differences from the payments of most tests. */
export type PaymentsChange = Partial<Omit<PaymentsConfig, "terms">> & {
  readonly terms?: Partial<PaymentsConfig["terms"]>
}

const paymentsOf = (chain: LocalChain["Service"], { terms, ...change }: PaymentsChange): PaymentsConfig => ({
  terms: {
    network,
    asset: chain.asset,
    assetName: usdc[network].assetName,
    assetVersion: usdc[network].assetVersion,
    payTo: chain.payTo,
    isPlayMoney: true,
    settledBy: "self-settled by a relayer",
    isCatalogued: false,
    maxTimeoutSeconds: 300,
    explorer: "https://explorer.example/{tx}",
    ...terms,
  },
  rpcUrl: Redacted.make(chain.rpcUrl),
  settlement: { _tag: "Relayer", privateKey: chain.relayerKey },
  patience: Duration.millis(patience(20)),
  sweepEvery: Duration.seconds(60),
  // The next read must find a test's changes.
  inquiryInterval: Duration.zero,
  ...change,
})

export const plainServer = Server.layer(Layer.empty)

/** The configuration of one server; several may share a database. */
export const serverConfig = Effect.fnUntraced(function* (
  payments: ServerConfig["payments"],
  server: Partial<ServerConfig>,
) {
  const { url } = yield* LocalDatabase
  const port = yield* freePort
  const config: ServerConfig = {
    host: "127.0.0.1",
    port,
    publicUrl: `http://127.0.0.1:${port}`,
    databaseUrl: url,
    trustedProxies: [],
    payments,
    ...server,
  }
  return config
})

/** The same for a server that sells; several may share a chain, too. */
export const configOf = (change: PaymentsChange = {}, server: Partial<ServerConfig> = {}) =>
  Effect.flatMap(LocalChain, (local) => serverConfig(paymentsOf(local, change), server))

/** A server in this process with this configuration. */
export const served = <R, E, R2 = never>(
  config: Effect.Effect<ServerConfig, unknown, R>,
  server: Layer.Layer<never, E, R2>,
) =>
  Layer.effect(
    TestServer,
    Effect.map(AppConfig, ({ publicUrl }) => ({ url: publicUrl })),
  ).pipe(Layer.provideMerge(server), Layer.provideMerge(Layer.effect(AppConfig, config)))

export type World = TestServer | LocalChain | LocalDatabase | SqlClient.SqlClient | AppConfig

/** Everything: a server, its chain and database, and the tests' own SQL. */
export const world = (
  change?: PaymentsChange,
  config?: Partial<ServerConfig>,
  server: Layer.Layer<never, unknown, AppConfig | LocalChain | LocalDatabase> = plainServer,
): Layer.Layer<World> =>
  served(configOf(change, config), server).pipe(
    Layer.provideMerge(sql),
    Layer.provideMerge(Layer.merge(database, chain)),
    Layer.orDie,
  )

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

/** One request with its body read; redirects are not followed, and an interruption disconnects it. */
export const ask = (url: string, init: RequestInit = {}) =>
  Effect.promise(async (signal): Promise<Answer> => {
    const response = await fetch(url, { redirect: "manual", signal, ...init })
    const text = await response.text()
    const isJson = (response.headers.get("content-type") ?? "").includes("json")
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== "" ? JSON.parse(text) : {},
    }
  })

/** Asks until the answer has this status and these members: on a busy machine a late part changes a probe for a moment. */
export const becomes = (address: string, status: number, members: Answer["json"] = {}) =>
  ask(address).pipe(
    until(
      `${address} never answers ${status} ${JSON.stringify(members)}`,
      ({ json, status: answered }) =>
        answered === status && Object.entries(members).every(([name, value]) => json[name] === value),
    ),
  )

export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
})

export const newKey = () => `test-${randomBytes(12).toString("hex")}`

/** A stone that names no spirit lies on the altar of this one, which no test asks about. */
const elsewhere = BigInt(spiritIds.indexOf("drift-albatross"))

export const newCommitment = () => {
  const drawn = BigInt(`0x${randomBytes(31).toString("hex")}`)
  return (drawn * BigInt(spiritIds.length) + elsewhere).toString(16).padStart(64, "0")
}

export const newPayer = Effect.fnUntraced(function* (amountAtomic: bigint = 10_000_000n) {
  const account = privateKeyToAccount(generatePrivateKey())
  const localChain = yield* LocalChain
  if (amountAtomic > 0n) yield* Effect.orDie(localChain.fund(account.address, amountAtomic))
  return account
})

export const read = (path: string) =>
  Effect.flatMap(TestServer, ({ url }) => Effect.map(ask(`${url}${path}`), ({ text }) => JSON.parse(text)))

/** A server that runs until the scope ends, and its configuration. It shares no connection and no service. */
export const serverWith = Effect.fnUntraced(function* <E, R>(
  change: PaymentsChange,
  server: Partial<ServerConfig>,
  routes: Layer.Layer<never, E, R>,
) {
  const config = yield* configOf(change, server)
  yield* Layer.build(Layer.fresh(Server.layer(routes).pipe(Layer.provide(Layer.succeed(AppConfig, config)))))
  return config
})

/** Its own URL; its public URL is the first server's. */
export const anotherServer = Effect.fnUntraced(function* (
  change: PaymentsChange = {},
  server: Partial<ServerConfig> = {},
) {
  const { url } = yield* TestServer
  const { port } = yield* serverWith(change, { publicUrl: url, ...server }, Layer.empty)
  return `http://127.0.0.1:${port}`
})
