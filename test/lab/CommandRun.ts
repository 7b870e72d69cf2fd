/** A command run in this process: its output and exit code, without the second that a process takes to start. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Exit, Layer, Stdio } from "effect"
import { run } from "../../src/cli/Command.ts"
import type { Ended } from "./Process.ts"

export const commandRun = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string>) {
  const said = { stdout: "", stderr: "" }
  const to = (stream: keyof typeof said) => (line: string) => void (said[stream] += `${line}\n`)
  const exit = yield* run.pipe(
    Effect.provideService(Console.Console, { ...globalThis.console, log: to("stdout"), error: to("stderr") }),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.provide(Layer.provideMerge(Stdio.layerTest({ args: Effect.succeed(args) }), NodeServices.layer)),
    // Services of its own, as a process has: it shares none with the server of its test.
    Effect.provideService(Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe()),
    Effect.exit,
  )
  const ended: Ended = { ...said, code: Exit.isSuccess(exit) ? 0 : 1 }
  return ended
})
