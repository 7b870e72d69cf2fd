/** `npm run campaign`: every long run of this project, with one set of flags. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit } from "effect"
import { CliError, Command } from "effect/cli"
import { ownTemporaryFolder } from "../lab/Folders.ts"
import { campaigns } from "./Commands.ts"

ownTemporaryFolder()

/** A command line that is wrong ends with 2, and a campaign that cannot go on with 1. */
const exit = await Effect.runPromiseExit(
  Command.runWith(campaigns, { version: "1" })(process.argv.slice(2)).pipe(Effect.provide(NodeServices.layer)),
)
if (Exit.isSuccess(exit)) process.exit()
const failure = Cause.squash(exit.cause)
const isOfLine = CliError.isCliError(failure)
if (!isOfLine) console.error(failure instanceof Error ? failure.stack : String(failure))
process.exit(isOfLine ? 2 : 1)
