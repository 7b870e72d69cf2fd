/** The command line, after `start.js`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, MutableRef, Runtime } from "effect"
import { run } from "./cli/Command.ts"
import { interrupted, StoppedCode } from "./cli/ExitCode.ts"

const stopped = MutableRef.make(interrupted)

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(code === interrupted ? MutableRef.get(stopped) : code))

run.pipe(
  Effect.provide(NodeServices.layer),
  Effect.provideService(StoppedCode, stopped),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown }),
)
