/** All commands of this package. */
import { Cause, Console, Effect, Stdio } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { commit, version } from "../platform/Software.ts"
import { spelledOut } from "./Arguments.ts"
import { buying } from "./buyer/Commands.ts"
import { oneLine } from "./CommandFailure.ts"

/** A large command is loaded when `isCalled` by its name, so that help and other commands start fast. */
export const commandsOf = async (isCalled: (name: string) => boolean) => {
  const late = async <C extends Command.Command.Any>(name: string, says: string, load: () => Promise<C>) =>
    isCalled(name) ? await load() : Command.make(name).pipe(Command.withDescription(says))
  const checks = [
    await late("verify", "Check a whole witness chain, its revealed words and its payments", () =>
      import("./verify/Verify.ts").then(({ verify }) => verify),
    ),
    await late("verify-proof", "Check the proof of a stone, offline", () =>
      import("./verify/Proof.ts").then(({ verifyProof }) => verifyProof),
    ),
  ] as const
  const runs = [
    await late("sandbox", "Run everything on this machine with play money", () =>
      import("./operator/Sandbox.ts").then(({ sandbox }) => sandbox),
    ),
    await late("serve", "Run the production server, configured by its environment", () =>
      import("./operator/Serve.ts").then(({ serve }) => serve),
    ),
    await late("admin", "Show and change an operator's data", () =>
      import("./admin/Admin.ts").then(({ admin }) => admin),
    ),
    await late("log", "The transparency log: its key and its state", () =>
      import("./log/Log.ts").then(({ log }) => log),
    ),
    await late("openapi", "Write schema/openapi.json from the contract", () =>
      import("./operator/OpenApi.ts").then(({ openapi }) => openapi),
    ),
  ] as const
  return Command.make("spirit-altar").pipe(
    Command.withDescription(
      "A paid API that charges exactly once, and a witness chain anyone can check. Exit code 0 is success; 1 is a failure, explained in one sentence on stderr.",
    ),
    Command.withSubcommands([
      { group: "Buy", commands: buying },
      { group: "Check", commands: checks },
      { group: "Run", commands: runs },
    ]),
  )
}

/** Completions need every command. */
const isAll = (args: ReadonlyArray<string>) => args.some((arg) => /^--completions\b/u.test(arg))

/** The help already printed it; an interruption is no error either. */
const isSaid = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) || CliError.isCliError(Cause.squash(cause))

/** With `--json`, stdout holds one JSON document even for an invalid call. */
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

const config = CliConfig.make({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard) })

/** Fails with one sentence on stderr and exit code 1. */
export const run = Stdio.Stdio.use(({ args }) => Effect.map(args, spelledOut)).pipe(
  Effect.flatMap((args) =>
    Effect.flatMap(
      Effect.promise(() => commandsOf((called) => isAll(args) || args.includes(called))),
      (altar) => Command.runWith(altar, { version: name })(args),
    ),
  ),
  Effect.provideService(CliConfig.CliConfig, config),
  Effect.provideService(CliOutput.Presenter, isJson ? inJson : CliOutput.defaultPresenter),
  Effect.tapCause((cause) => (isSaid(cause) ? Effect.void : Console.error(oneLine(cause)))),
)
