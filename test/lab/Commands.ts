/** The command line in this process: its output. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { commandsOf } from "../../src/cli/Command.ts"

const run = Command.runWith(await commandsOf(() => true), { version: "0" })

export const printed = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const log = (...line: ReadonlyArray<unknown>) => void lines.push(line.join(" "))
    yield* run(args).pipe(Effect.provideService(Console.Console, { ...globalThis.console, log }))
    return lines.join("\n")
  }).pipe(Effect.provide(NodeServices.layer))
