/** Every way to run this package, with help that a newcomer can follow. */
import { Cause, Console, Effect } from "effect"
import { Command } from "effect/cli"
import { interfaceVersion } from "../../schema/Api.ts"
import { buy } from "./Buy.ts"
import { openapi } from "./OpenApi.ts"
import { sandbox } from "./Sandbox.ts"
import { serve } from "./Serve.ts"
import { oneLine } from "./Trouble.ts"
import { verify } from "./Verify.ts"

const altar = Command.make("spirit-altar").pipe(
  Command.withDescription("A paid API that charges exactly once, and a witness chain anyone can check"),
  Command.withSubcommands([sandbox, serve, buy, verify, openapi]),
)

/** Fails with one sentence on stderr and exit code 1; interruption is not trouble. */
export const run = Command.run(altar, { version: interfaceVersion }).pipe(
  Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(oneLine(cause)))),
)
