/** `sandbox`: a real database, a real chain and play money, ready in seconds. */
import { Clock, Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { AppConfig } from "../Config.ts"
import { LocalChain } from "../sandbox/LocalChain.ts"
import * as Sandbox from "../sandbox/Sandbox.ts"
import * as Server from "../Server.ts"
import { variables } from "../Config.ts"
import { logging } from "./Serve.ts"

const network = Flag.Literals("network", ["eip155:84532", "eip155:8453"]).pipe(
  Flag.withDescription("Network id to rehearse with; on eip155:8453 use throw-away keys only"),
  Flag.withDefault("eip155:84532" as const),
)

const announce = (started: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { publicUrl } = yield* AppConfig
      const chain = yield* LocalChain
      const seconds = (((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(1)
      yield* Console.log(`
  Spirit Altar sandbox                        ready after ${seconds} s

    site     ${publicUrl}/v2/
    agents   ${publicUrl}/for-agents
    API      ${publicUrl}/docs
    chain    ${chain.rpcUrl}  (${chain.network})

  The money is not real: play USDC on a private chain on this machine.
${chain.network === "eip155:8453" ? "  This rehearses Base's own network id: use throw-away keys only, never a funded one.\n" : ""}
  Try next, in another terminal:

    npm run buy -- witness --text "The heron will return by May." --reveal
    npm run verify -- --url ${publicUrl}

  Ctrl-C stops everything; the data stays.
`)
    }),
  )

const help = variables
  .filter(([name]) => ["HOST", "PORT", "PUBLIC_URL", "DATABASE_URL", "DATA_DIR", "LOG_LEVEL"].includes(name))
  .map(([name, meaning]) => `  ${name}: ${meaning}`)
  .join("\n")

export const sandbox = Command.make("sandbox", { network }, (flags) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    const config = Sandbox.config(flags.network)
    return yield* Layer.launch(
      announce(started).pipe(
        Layer.provide(Server.layer(Sandbox.routes)),
        Layer.provide(config),
        Layer.provide(Sandbox.parts(flags.network)),
        Layer.provide(logging),
      ),
    )
  }),
).pipe(
  Command.withDescription(`Run everything on this machine with play money. Optional environment:\n${help}`),
  Command.withExamples([
    { command: "npm start", description: "Start on http://127.0.0.1:3000" },
    { command: "PORT=4000 npm start -- --network eip155:8453", description: "Rehearse the production wire format" },
  ]),
)
