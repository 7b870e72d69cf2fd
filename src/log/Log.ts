/** The log's services: the pump and the published view. Without a key the log is off. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Layer, Option } from "effect"
import type { Policy } from "../../schema/log/Policy.ts"
import { LastSigned } from "./LastSigned.ts"
import { LogStore } from "./LogStore.ts"
import { PublishedLog } from "./PublishedLog.ts"
import { Pump, type PumpConfig } from "./Pump.ts"
import { Cosigners } from "./Cosigners.ts"

export interface LogConfig extends PumpConfig {
  /** The file for the last signed checkpoint, outside the database. */
  readonly checkpointFile: Option.Option<string>
  /** The policy that names the log's cosigners. Without it, a checkpoint has the log's signature alone. */
  readonly policy?: Policy | undefined
}

const logOf = ({ checkpointFile, policy, ...config }: LogConfig) => {
  const { signer } = config
  const lastSigned = Option.match(checkpointFile, {
    onNone: () => LastSigned.memory,
    onSome: (path) => LastSigned.file(path, config.origin).pipe(Layer.provide(NodeFileSystem.layer)),
  })
  const cosigners =
    policy === undefined
      ? Cosigners.none
      : // This client follows no redirect.
        Cosigners.layer(policy, signer.vkey).pipe(Layer.provide(NodeHttpClient.layerUndici))
  return Pump.layer(config).pipe(
    Layer.provideMerge(PublishedLog.layer(config)),
    Layer.provide(Layer.effectDiscard(LogStore.use((store) => store.signedBy(signer)))),
    Layer.provide([lastSigned, cosigners, LogStore.layer]),
  )
}

export const layer = (config: LogConfig | undefined) => (config === undefined ? PublishedLog.none : logOf(config))
