/** The command line, after `start.js`. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Runtime } from "effect"
import { run } from "./cli/Command.ts"

/** The shell's code for a command that Ctrl-C ended. */
const interrupted = 130

/** Stopping a server is no failure; stopping its check is one. */
const name = process.argv.slice(2).find((argument) => !argument.startsWith("-"))
const isServer = ["sandbox", "serve", "mcp"].includes(name ?? "") && !process.argv.includes("--check")

const teardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(code === interrupted && isServer ? 0 : code))

/** Containers and units pass unset variables on as empty ones. */
const env = Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])))

run.pipe(
  Effect.provide(NodeServices.layer),
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown }),
)
