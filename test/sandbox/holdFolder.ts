// Holds the data folder DATA_DIR until it is killed, and says so; or says who has it.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { DataFolder } from "../../src/sandbox/DataFolder.ts"

const say = (value: unknown) => Console.log(JSON.stringify(value))

const holding = Effect.gen(function* () {
  const { folder } = yield* DataFolder
  yield* say({ pid: process.pid, folder })
  return yield* Effect.never
}).pipe(
  Effect.provide(DataFolder.layer),
  Effect.catchTag("FolderInUse", ({ folder, owner }) => say({ refused: folder, owner })),
  Effect.provide(NodeServices.layer),
)

NodeRuntime.runMain(holding)
