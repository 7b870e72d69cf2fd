/** The log's services: integration, publication and files. Without a key the log is off. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, FileSystem, Layer, Option } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { Confirmation } from "./Confirmation.ts"
import { Integrator } from "./Integrator.ts"
import { LastSigned } from "./LastSigned.ts"
import { LogStore } from "./LogStore.ts"
import { PublishedLog } from "./PublishedLog.ts"
import { Publisher, type PublisherConfig } from "./Publisher.ts"
import * as Rereading from "./Rereading.ts"
import { Entries } from "./Entries.ts"
import { WitnessPolicyInvalid, Witnesses } from "./Witnesses.ts"

export interface LogConfig extends PublisherConfig {
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

/**
 * The log and its services. Both stages are fibers that may stop between any two steps, so start and stop do not wait for
 * them.
 */
const logOf = ({ checkpointFile, policyFile, ...config }: LogConfig) => {
  const lastSigned = Option.match(checkpointFile, {
    onNone: () => LastSigned.none,
    onSome: (path) => LastSigned.file(path, config.origin).pipe(Layer.provide(NodeFileSystem.layer)),
  })
  const witnesses = policyFile === undefined ? Witnesses.none : witnessesOf(policyFile, config.signer.vkey)
  return Layer.merge(
    Layer.provideMerge(Rereading.layer, PublishedLog.layer(config)),
    Publisher.layer(config).pipe(Layer.provide([lastSigned, Integrator.layer()])),
  ).pipe(Layer.provideMerge(Confirmation.layer), Layer.provide([witnesses, Entries.layer, LogStore.layer]))
}

export const layer = (config: LogConfig | undefined) =>
  config === undefined ? Layer.merge(PublishedLog.none, Confirmation.layer) : logOf(config)
