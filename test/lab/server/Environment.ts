/** The environment of a server process that sells on this test's database and chain, settled by our relayer. */
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { Proxies } from "../TestServices.ts"
import { serving } from "./ServerProcess.ts"

/** By the straight way. */
export const direct = Effect.gen(function* () {
  const { network, payTo, relayerKey, rpcUrl } = yield* LocalChain
  const { url } = yield* LocalDatabase
  return {
    DATABASE_URL: Redacted.value(url),
    X402_NETWORK: network,
    RPC_URL: rpcUrl,
    PAY_TO: payTo,
    RELAYER_KEY: Redacted.value(relayerKey),
  }
})

/** Through the proxies of database and node. */
export const proxied = Effect.gen(function* () {
  const { database, rpc } = yield* Proxies
  return { ...(yield* direct), DATABASE_URL: database.url, RPC_URL: rpc.url }
})

/** A server behind these proxies that listens, and does not sweep unless it is told. */
export const listening = Effect.fnUntraced(function* (env: Readonly<Record<string, string>> = {}) {
  const server = yield* serving({ ...(yield* proxied), TEST_SWEEP_SECONDS: "3600", ...env })
  yield* server.says("server listening")
  return server
})
