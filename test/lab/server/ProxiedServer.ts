/** A server whose node, facilitator and database stand behind proxies that a test can tell to hold, lose or falsify answers. */
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import type { PaymentsConfig } from "../../../src/payments/Payments.ts"
import { AppConfig, type ServerConfig } from "../../../src/server/config/Config.ts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import * as Server from "../../../src/server/Server.ts"
import { database, sql } from "../Database.ts"
import * as Facilitator from "../proxy/Facilitator.ts"
import { slowness } from "../Patience.ts"
import * as PgProxy from "../proxy/Postgres.ts"
import * as RpcProxy from "../proxy/Node.ts"
import { chain } from "../Chain.ts"
import { configOf, paymentsOf } from "../Fixture.ts"
import { Proxies, TestServer } from "../TestServices.ts"

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

const config = (
  settledBy: SettledBy,
  patience: Duration.Input,
  sweepEvery: Duration.Input,
  groupMaximum: number,
  more: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
) =>
  Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const localChain = yield* LocalChain
      const { database: pg, facilitator, rpc } = yield* Proxies
      const settlement =
        settledBy === "facilitator"
          ? ({ _tag: "Facilitator", url: facilitator.url, key: Option.none() } as const)
          : { ...paymentsOf(localChain).settlement, groupMaximum }
      return yield* configOf(
        {
          rpcUrl: Redacted.make(rpc.url),
          patience: Duration.times(Duration.fromInputUnsafe(patience), slowness),
          sweepEvery: Duration.fromInputUnsafe(sweepEvery),
          settlement,
          ...more,
        },
        { databaseUrl: Redacted.make(pg.url), ...server },
      )
    }),
  )

/**
 * A server in this process behind the proxies that waits so long for a settlement, longer on a slow machine; it sweeps only
 * at its start and sends up to 50 payments in one transaction, unless told otherwise.
 */
export const proxiedServer = (
  settledBy: SettledBy,
  patience: Duration.Input = "2 seconds",
  sweepEvery: Duration.Input = "1 hour",
  groupMaximum = 50,
  more: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
): Layer.Layer<Stage | TestServer> =>
  Layer.orDie(
    Layer.effect(
      TestServer,
      Effect.map(AppConfig, ({ publicUrl }) => ({ url: publicUrl })),
    ).pipe(
      Layer.provideMerge(Server.layer(Layer.empty)),
      Layer.provide(config(settledBy, patience, sweepEvery, groupMaximum, more, server)),
      Layer.provideMerge(stage),
    ),
  )

/** The URLs of so many further servers behind the same name, proxies and database. */
export const neighbours = Effect.fnUntraced(function* (count: number, settledBy: SettledBy) {
  const { url: publicUrl } = yield* TestServer
  const own = config(settledBy, "2 seconds", "1 hour", 50, {}, { publicUrl })
  return yield* Effect.forEach(Array.from({ length: count }), () =>
    Layer.build(Layer.fresh(Server.layer(Layer.empty).pipe(Layer.provideMerge(own)))).pipe(
      Effect.map((services) => `http://127.0.0.1:${Context.get(services, AppConfig).port}`),
      Effect.orDie,
    ),
  )
})
