/** A server whose node, facilitator and database stand behind proxies that a test can tell to hold, lose or falsify answers. */
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import type { PaymentsConfig } from "../../../src/payments/Payments.ts"
import type { Limits } from "../../../src/payments/x402/settle/Settlement.ts"
import type { ServerConfig } from "../../../src/server/config/Config.ts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../Database.ts"
import * as Facilitator from "../proxy/Facilitator.ts"
import { slowness } from "../Patience.ts"
import * as PgProxy from "../proxy/Postgres.ts"
import * as RpcProxy from "../proxy/Node.ts"
import { chain } from "../Chain.ts"
import { configOf, plainServer, Proxies, served, type TestServer, anotherServer } from "../Fixture.ts"

export type SettledBy = "relayer" | "facilitator"

const proxies = Layer.effect(
  Proxies,
  Effect.gen(function* () {
    const localChain = yield* LocalChain
    const { url } = yield* LocalDatabase
    return {
      rpc: yield* RpcProxy.make(localChain.rpcUrl),
      facilitator: yield* Facilitator.make(localChain),
      database: yield* PgProxy.make(Redacted.value(url)),
    }
  }),
)

export type Stage = Proxies | LocalChain | LocalDatabase | SqlClient.SqlClient

/** The proxies, database and chain, without a server. */
export const stage: Layer.Layer<Stage> = Layer.orDie(
  proxies.pipe(Layer.provideMerge(sql), Layer.provideMerge(Layer.merge(database, chain))),
)

/** How a server sells behind the proxies; without a patience, a sweep and limits of its own as most tests want it. */
export const selling = Effect.fnUntraced(function* (
  settledBy: SettledBy,
  patience: Duration.Input = "1 second",
  sweepEvery: Duration.Input = "1 hour",
  limits: Partial<Limits> = {},
) {
  const { facilitator, rpc } = yield* Proxies
  const settlement: PaymentsConfig["settlement"] =
    settledBy === "facilitator"
      ? { _tag: "Facilitator", url: facilitator.url, key: Option.none() }
      : { _tag: "Relayer", privateKey: (yield* LocalChain).relayerKey, limits }
  return {
    rpcUrl: Redacted.make(rpc.url),
    patience: Duration.times(Duration.fromInputUnsafe(patience), slowness()),
    sweepEvery: Duration.fromInputUnsafe(sweepEvery),
    settlement,
  }
})

const databaseUrl = Effect.map(Proxies, ({ database: { url } }) => Redacted.make(url))

/**
 * A server in this process behind the proxies that waits so long for a settlement, longer on a slow machine; it sweeps only
 * at its start, unless told otherwise.
 */
export const proxiedServer = (
  settledBy: SettledBy,
  patience?: Duration.Input,
  sweepEvery?: Duration.Input,
  limits?: Partial<Limits>,
  more: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
): Layer.Layer<Stage | TestServer> => {
  const config = Effect.gen(function* () {
    const change = yield* selling(settledBy, patience, sweepEvery, limits)
    return yield* configOf({ ...change, ...more }, { databaseUrl: yield* databaseUrl, ...server })
  })
  return Layer.orDie(served(config, plainServer).pipe(Layer.provideMerge(stage)))
}

/** The URLs of so many further servers behind the same name, proxies and database. */
export const neighbours = Effect.fnUntraced(function* (count: number, settledBy: SettledBy, limits?: Partial<Limits>) {
  const config = yield* selling(settledBy, undefined, undefined, limits)
  const another = anotherServer(config, { databaseUrl: yield* databaseUrl })
  return yield* Effect.forEach(Array.from({ length: count }), () => Effect.orDie(another))
})
