/** The log as a server runs it: integrating, publishing and showing, or, without a key, nothing of it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Layer, Option } from "effect"
import { Integrator } from "./Integrator.ts"
import { LastSigned } from "./LastSigned.ts"
import { LogStore } from "./LogStore.ts"
import { PublishedLog } from "./PublishedLog.ts"
import { Publisher, type PublisherConfig } from "./Publisher.ts"

export interface LogConfig extends PublisherConfig {
  /** Where the last signed checkpoint is kept, outside the database. */
  readonly checkpointFile: Option.Option<string>
}

/** Neither stage is waited for, at the start or at the end: they are fibers that may stop between any two steps. */
export const layer = (config: LogConfig | undefined) => {
  if (config === undefined) return PublishedLog.none
  const lastSigned = Option.match(config.checkpointFile, {
    onNone: () => LastSigned.none,
    onSome: (path) => LastSigned.file(path).pipe(Layer.provide(NodeFileSystem.layer)),
  })
  return Layer.mergeAll(
    PublishedLog.layer(config),
    Integrator.layer(),
    Publisher.layer(config).pipe(Layer.provide(lastSigned)),
  ).pipe(Layer.provide(LogStore.layer))
}
