/** The sandbox until it is stopped; loaded only when it is asked for. */
import { Clock, Console, Effect, Layer } from "effect"
import { AppConfig } from "../Config.ts"
import { LocalChain } from "../sandbox/LocalChain.ts"
import * as Sandbox from "../sandbox/Sandbox.ts"
import * as Server from "../Server.ts"
import { stopsAsAsked } from "./Ending.ts"
import { logging } from "./Serving.ts"

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

export const sandboxing = Effect.fn("sandboxing")(function* (network: "eip155:84532" | "eip155:8453") {
  yield* stopsAsAsked
  const started = yield* Clock.currentTimeMillis
  return yield* Layer.launch(
    announce(started).pipe(
      Layer.provide(Server.layer(Sandbox.routes)),
      Layer.provide(Sandbox.config(network)),
      Layer.provide(Sandbox.parts(network)),
      Layer.provide(logging),
    ),
  )
})
