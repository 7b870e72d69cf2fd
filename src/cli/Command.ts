/** All commands of this package. */
import { Cause, Console, Effect, Stdio } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { commit, version } from "../platform/Software.ts"
import { admin } from "./admin/Admin.ts"
import { buying } from "./buyer/Commands.ts"
import { report } from "./CommandFailure.ts"
import { log } from "./log/Log.ts"
import { openapi } from "./operator/OpenApi.ts"
import { sandbox } from "./operator/Sandbox.ts"
import { serve } from "./operator/Serve.ts"
import { Json } from "./Output.ts"
import { verifyProof } from "./verify/Proof.ts"
import { verify } from "./verify/Verify.ts"

const altar = Command.make("spirit-altar").pipe(
  Command.withDescription(
    "A paid API that charges exactly once, and a witness chain anyone can check. Exit code 0 is success; 1 is a failure, explained in one sentence on stderr.",
  ),
  Command.withSubcommands([
    { group: "Buy", commands: buying },
    { group: "Check", commands: [verify, verifyProof] },
    { group: "Run", commands: [sandbox, serve, admin, log, openapi] },
  ]),
  Command.withGlobalFlags([Json]),
)

/** Joins a value that begins with a dash to its option: the parser would read it as options of one letter. */
export const withDashes = (typed: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (const word of typed) {
    const option = words.at(-1) ?? ""
    if (/^-[^-]/u.test(word) && /^--[^=]+$/u.test(option)) words.splice(-1, 1, `${option}=${word}`)
    else words.push(word)
  }
  return words
}

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

const name = commit === null ? version : `${version} (commit ${commit})`

const config = CliConfig.make({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard) })

/** Fails with one sentence on stderr and exit code 1. */
export const run = Effect.gen(function* () {
  const args = withDashes(yield* (yield* Stdio.Stdio).args)
  const isJson = args.includes("--json")
  yield* Command.runWith(altar, { version: name })(args).pipe(
    Effect.provideService(CliOutput.Presenter, isJson ? inJson : CliOutput.defaultPresenter),
    Effect.tapCause((cause) => (isSaid(cause) ? Effect.void : report(cause, isJson))),
  )
}).pipe(Effect.provideService(CliConfig.CliConfig, config))
