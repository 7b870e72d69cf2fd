/** A server's configuration from an environment that a test writes. */
import { ConfigProvider, Effect } from "effect"
import { production } from "../../src/server/config/Config.ts"

export const provider = (env: Record<string, string>) => ConfigProvider.fromEnv({ env })

export const parse = (env: Record<string, string>) => production.parse(provider(env))

/** The error lines of a wrong environment; none for a right one. */
export const problems = (env: Record<string, string>) =>
  parse(env).pipe(
    Effect.as<ReadonlyArray<string>>([]),
    Effect.catch((error) => Effect.succeed(error.cause.message.split("\n"))),
  )

/** All that a server needs, and all that it needs to sell. */
export const needed = { DATABASE_URL: "postgres://altar:password@db/altar" }
export const paying = {
  PAY_TO: `0x${"1".repeat(40)}`,
  RPC_URL: "https://rpc.example",
  RELAYER_KEY: `0x${"2".repeat(64)}`,
}
