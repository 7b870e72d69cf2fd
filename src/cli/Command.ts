/** All commands of this package. */
import { Cause, Console, Effect, Stdio } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { commit, version } from "../platform/Software.ts"
import { admin } from "./admin/Admin.ts"
import { buying, purchases } from "./buyer/Commands.ts"
import { report } from "./CommandFailure.ts"
import { log } from "./log/Log.ts"
import { mcp } from "./mcp/Mcp.ts"
import { migrate } from "./operator/Migrate.ts"
import { openapi } from "./operator/OpenApi.ts"
import { sandbox } from "./operator/Sandbox.ts"
import { serve } from "./operator/Serve.ts"
import { Json, plain } from "./Output.ts"
import { verifyProof } from "./verify/Proof.ts"
import { verify } from "./verify/Verify.ts"

const altar = Command.make("spirit-altar").pipe(
  Command.withDescription(
    "A paid API that charges exactly once, and a witness chain anyone can check. Exit code 0 is success; 1 is a failure, explained in one sentence on stderr.",
  ),
  Command.withSubcommands([
    { group: "Buy", commands: [...buying, mcp] },
    { group: "Check", commands: [verify, verifyProof] },
    { group: "Run", commands: [sandbox, serve, migrate, admin, log, openapi] },
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

/** `help`, also before or after a group of commands, is `--help`. */
export const withHelp = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isName = (word: string) => !word.startsWith("-") && word !== "admin" && word !== "log"
  const at = words.findIndex(isName)
  return words[at] === "help" ? [...words.toSpliced(at, 1), "--help"] : words
}

const paid: ReadonlySet<string> = new Set(purchases.map(({ name }) => name))

/** A typing mistake must not lead to a purchase. */
const unpaid = (error: CliError.NonShowHelpErrors) =>
  error._tag === "UnknownSubcommand"
    ? new CliError.UnknownSubcommand({ ...error, suggestions: error.suggestions.filter((name) => !paid.has(name)) })
    : error

/** An invalid call gets its sentence and how to call, and with `--json` one JSON document on stdout. */
const presenter = (isJson: boolean): CliOutput.Presenter => ({
  present: (event) => {
    if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
    const messages = event.errors.map((error) => unpaid(error).message)
    const help = `${event.commandPath.join(" ")} --help`
    return isJson
      ? Console.log(JSON.stringify({ ok: false, code: "usage", message: messages.join(" "), help }))
      : Console.error(
          [
            ...messages.map((message) => plain(message).replace(/ {2,}/gu, " ")),
            `Usage: ${event.helpDoc.usage}`,
            `Help: ${help}`,
          ].join("\n"),
        )
  },
})

const name = commit === null ? version : `${version} (commit ${commit})`

const config = CliConfig.make({ builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.Wizard) })

/** Fails with one sentence on stderr and exit code 1. */
export const run = Effect.gen(function* () {
  const args = withHelp(withDashes(yield* (yield* Stdio.Stdio).args))
  const isJson = args.includes("--json")
  yield* Command.runWith(altar, { version: name })(args).pipe(
    Effect.provideService(CliOutput.Presenter, presenter(isJson)),
    Effect.tapCause((cause) => (isSaid(cause) ? Effect.void : report(cause, isJson))),
  )
}).pipe(Effect.provideService(CliConfig.CliConfig, config))
