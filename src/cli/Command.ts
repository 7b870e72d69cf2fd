/** Every way to run this package, with help that a newcomer can follow. */
import { Cause, Console, Effect, Stdio } from "effect"
import { CliError, CliOutput, Command } from "effect/cli"
import { commit, version } from "../platform/Software.ts"
import { admin } from "./Admin.ts"
import { spelledOut } from "./Arguments.ts"
import { buy, buying } from "./Buy.ts"
import { log } from "./Log.ts"
import { openapi } from "./OpenApiCommand.ts"
import { roomCommand } from "./Room.ts"
import { sandbox } from "./Sandbox.ts"
import { serve } from "./Serve.ts"
import { oneLine } from "./Trouble.ts"
import { verify } from "./Verify.ts"
import { verifyProof } from "./VerifyProof.ts"
import { witnessServe } from "./WitnessServe.ts"

export const altar = Command.make("spirit-altar").pipe(
  Command.withDescription(
    "A paid API that charges exactly once, and a witness chain anyone can check. Exit code 0 is success; 1 is trouble, said in one sentence on stderr.",
  ),
  Command.withSubcommands([
    { group: "Buy", commands: buying },
    { group: "Talk", commands: [roomCommand] },
    { group: "Check", commands: [verify, verifyProof] },
    { group: "Run", commands: [sandbox, serve, admin, log, witnessServe, openapi, buy] },
  ]),
)

/** What the help has said already; an interruption is no trouble either. */
const isSaid = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) || CliError.isCliError(Cause.squash(cause))

/** Whoever reads JSON reads one document on stdout, also of a call that cannot be understood. */
const inJson: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.log(
          JSON.stringify({
            ok: false,
            code: "usage",
            message: event.errors.map(({ message }) => message).join(" "),
            help: `${event.commandPath.join(" ")} --help`,
          }),
        )
      : CliOutput.defaultPresenter.present(event),
}

const isJson = process.argv.includes("--json")

const name = commit === null ? version : `${version} (commit ${commit})`

/** Fails with one sentence on stderr and exit code 1. */
export const run = Stdio.Stdio.use(({ args }) => Effect.map(args, spelledOut)).pipe(
  Effect.flatMap(Command.runWith(altar, { version: name })),
  Effect.provideService(CliOutput.Presenter, isJson ? inJson : CliOutput.defaultPresenter),
  Effect.tapCause((cause) => (isSaid(cause) ? Effect.void : Console.error(oneLine(cause)))),
)
