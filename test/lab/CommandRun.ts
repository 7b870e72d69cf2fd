/** Commands run in this process: their output and how they end, without the second that a process takes to start. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Exit, Layer, Stdio } from "effect"
import { run } from "../../src/cli/Command.ts"
import { report } from "../../src/cli/CommandFailure.ts"
import { Json } from "../../src/cli/Output.ts"
import type { Ended } from "./Process.ts"

/** The lines and the end of a command's effect, as the command line runs it. */
export const printing = <A, E, R>(command: Effect.Effect<A, E, R>, isJson = false) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const to = {
      ...globalThis.console,
      log: (text: string) => void lines.push(...text.split("\n")),
      error: () => undefined,
    }
    return command.pipe(
      Effect.tapCause((cause) => report(cause, isJson)),
      Effect.provideService(Json, isJson),
      Effect.provideService(Console.Console, to),
      Effect.result,
      Effect.map((ended) => ({ lines, ended })),
    )
  }).pipe(Effect.provide(NodeServices.layer))

export const commandRun = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const output = { stdout: "", stderr: "" }
  const to = (stream: keyof typeof output) => (line: string) => void (output[stream] += `${line}\n`)
  const exit = yield* run.pipe(
    Effect.provideService(Console.Console, { ...globalThis.console, log: to("stdout"), error: to("stderr") }),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provide(Layer.provideMerge(Stdio.layerTest({ args: Effect.succeed(args) }), NodeServices.layer)),
    // Services of its own, as a process has: it shares none with the server of its test.
    Effect.provideService(Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe()),
    Effect.exit,
  )
  const ended: Ended = { ...output, code: Exit.isSuccess(exit) ? 0 : 1 }
  return ended
})

export const printed = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(commandRun(args), ({ code, stderr, stdout }) =>
    code === 0 ? Effect.succeed(stdout) : Effect.die(stderr),
  )
