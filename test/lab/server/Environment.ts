/** The environment of a server process that sells on this test's database and chain, settled by our relayer. */
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { Proxies } from "../TestServices.ts"

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
