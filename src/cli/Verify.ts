/** `verify`: what a person may ask of a whole witness chain. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { defaultUrl } from "./Environment.ts"

const url = Flag.String("url").pipe(Flag.withDescription("Public URL of the altar"), Flag.withDefault(defaultUrl))
const rpc = Flag.String("rpc").pipe(
  Flag.withDescription("JSON-RPC of its network; a sandbox tells its own"),
  Flag.optional,
)

export const verify = Command.make("verify", { url, rpc }, (flags) =>
  Effect.flatMap(
    Effect.promise(() => import("./Verifying.ts")),
    ({ verifying }) => verifying(flags.url, flags.rpc),
  ),
).pipe(
  Command.withDescription("Download a witness chain, recompute every link, and look every payment up on its chain"),
  Command.withExamples([
    { command: "npm run verify -- --url http://127.0.0.1:3000", description: "Check the sandbox" },
    { command: "npm run verify -- --url https://altar.example --rpc https://…", description: "Check a public altar" },
  ]),
)
