/** The log's services: the pump and the published view. Without a key the log is off. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, FileSystem, Layer, Option } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { LastSigned } from "./LastSigned.ts"
import { LogStore } from "./LogStore.ts"
import { PublishedLog } from "./PublishedLog.ts"
import { Pump, type PumpConfig } from "./Pump.ts"
import { WitnessPolicyInvalid, Witnesses } from "./Witnesses.ts"

export interface LogConfig extends PumpConfig {
  /** The file for the last signed checkpoint, outside the database. */
  readonly checkpointFile: Option.Option<string>
  /** The policy file that names the log's witnesses. Without one none are asked. */
  readonly policyFile?: string
}

const invalid = (file: string, message: string) =>
  new WitnessPolicyInvalid({ message: `${file}, the policy that LOG_WITNESSES names, cannot be used. ${message}` })

/** The witnesses of a policy file, which is read once. */
const witnessesOf = (file: string, vkey: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const text = yield* Effect.mapError(files.readFileString(file), () => invalid(file, "It cannot be read."))
      const policy = parsePolicy(text)
      return policy instanceof Malformed ? yield* invalid(file, policy.message) : Witnesses.layer(policy, vkey)
    }),
    // This client follows no redirect.
  ).pipe(Layer.provide([NodeFileSystem.layer, NodeHttpClient.layerUndici]))

const logOf = ({ checkpointFile, policyFile, ...config }: LogConfig) => {
  const lastSigned = Option.match(checkpointFile, {
    onNone: () => LastSigned.memory,
    onSome: (path) => LastSigned.file(path, config.origin).pipe(Layer.provide(NodeFileSystem.layer)),
  })
  const witnesses = policyFile === undefined ? Witnesses.none : witnessesOf(policyFile, config.signer.vkey)
  return Pump.layer(config).pipe(
    Layer.provideMerge(PublishedLog.layer(config)),
    Layer.provide([lastSigned, witnesses, LogStore.layer]),
  )
}

export const layer = (config: LogConfig | undefined) => (config === undefined ? PublishedLog.none : logOf(config))
