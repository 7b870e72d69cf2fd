/** `openapi` as a command; the contract is loaded when it runs. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"

const check = Flag.Boolean("check").pipe(
  Flag.withDescription("Only compare; exit 1 when stale"),
  Flag.withDefault(false),
)

export const openapi = Command.make("openapi", { check }, (flags) =>
  Effect.flatMap(
    Effect.promise(() => import("./OpenApi.ts")),
    ({ writeOrCheck }) => writeOrCheck(flags.check),
  ),
).pipe(
  Command.withDescription("Write schema/openapi.json from the contract"),
  Command.withExamples([
    { command: "npm run openapi", description: "Write the document" },
    { command: "npm run openapi -- --check", description: "Fail when the written document is stale" },
  ]),
)
