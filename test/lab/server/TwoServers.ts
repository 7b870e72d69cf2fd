/** Two servers as processes of their own on one database, and requests shared out between them. */
import { Context, Effect, Layer, Redacted } from "effect"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../Database.ts"
import { make } from "./ServerProcess.ts"

/** Where the two answer. */
export class Servers extends Context.Service<Servers, readonly [string, string]>()("test/Servers") {}

const twoServers = Effect.gen(function* () {
  const { url } = yield* LocalDatabase
  const env = {
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: Redacted.value(url),
    TRUSTED_PROXIES: "127.0.0.1",
    LOG_LEVEL: "Info",
  }
  const servers = [yield* make(env), yield* make(env)] as const
  yield* Effect.all([servers[0].start, servers[1].start], { concurrency: 2 })
  return [servers[0].url, servers[1].url] as const
})

export const processes = Layer.effect(Servers, twoServers).pipe(Layer.provideMerge(sql), Layer.provideMerge(database))

/** `count` requests at once, every other one to the second server. */
export const atOnce = <A, E, R>(
  servers: readonly [string, string],
  count: number,
  request: (url: string, index: number) => Effect.Effect<A, E, R>,
) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => request(servers[index % 2 === 0 ? 0 : 1], index),
    { concurrency: "unbounded" },
  )
