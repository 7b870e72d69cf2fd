/** The log's services: integration, publication and files. Without a key the log is off. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, FileSystem, Layer, Option, References } from "effect"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parsePolicy } from "../../schema/log/Policy.ts"
import { ActOrder } from "../payments/store/ActOrder.ts"
import * as ActEntries from "./ActEntries.ts"
import { ActsLog } from "./ActsLog.ts"
import { Confirmation } from "./Confirmation.ts"
import { defaults, Integrator, type IntegratorConfig } from "./Integrator.ts"
import { LastSigned } from "./LastSigned.ts"
import * as LogKind from "./LogKind.ts"
import { LogStore } from "./LogStore.ts"
import { PublishedLog, type Publishing } from "./PublishedLog.ts"
import { Publisher, type PublisherConfig } from "./Publisher.ts"
import * as Rereading from "./Rereading.ts"
import * as StoneEntries from "./StoneEntries.ts"
import { WitnessPolicyInvalid, Witnesses } from "./Witnesses.ts"

export interface LogConfig extends PublisherConfig, Publishing {
  /** The name of the log over all acts, where that is not the origin and `/acts`. */
  readonly actsOrigin?: string
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
 * One log and its services. Both stages are fibers that may stop between any two steps, so start and stop do not wait for
 * them.
 */
const logOf = (
  { checkpointFile, policyFile, ...config }: LogConfig,
  batch: IntegratorConfig,
  rereading: typeof Rereading.layer,
) => {
  const lastSigned = Option.match(checkpointFile, {
    onNone: () => LastSigned.none,
    onSome: (path) => LastSigned.file(path, config.origin).pipe(Layer.provide(NodeFileSystem.layer)),
  })
  const witnesses = policyFile === undefined ? Witnesses.none : witnessesOf(policyFile, config.signer.vkey)
  return Layer.merge(
    Layer.provideMerge(rereading, PublishedLog.layer(config)),
    Publisher.layer(config).pipe(Layer.provide([lastSigned, Integrator.layer(batch)])),
  ).pipe(Layer.provideMerge(Confirmation.layer), Layer.provide(witnesses))
}

/** The log over all acts: another origin, a key of its own and a checkpoint file of its own. */
export const ofActs = ({ actsOrigin, checkpointFile, origin, signer, ...config }: LogConfig): LogConfig => ({
  ...config,
  origin: actsOrigin ?? `${origin}/acts`,
  signer: signer.derived(actsOrigin ?? `${origin}/acts`, "spirit-altar/log/acts/v1"),
  checkpointFile: Option.map(checkpointFile, (path) => path + LogKind.acts.suffix),
})

/** The log that the messages of its fibers are about, as in the metrics. */
const named = (log: string) => Layer.succeed(References.CurrentLogAnnotations, { log })

export const layer = (config: LogConfig | undefined) => {
  if (config === undefined) return Layer.mergeAll(PublishedLog.none, Confirmation.layer, ActsLog.none)
  const stones = logOf(config, defaults, Rereading.layer).pipe(
    Layer.provide([StoneEntries.layer, LogStore.layer, named("stones")]),
  )
  // An entry of an act is parsed and hashed out of its answer, which takes longer than a stone's.
  const acts = logOf(ofActs(config), { batch: 128 }, Rereading.every("10 seconds")).pipe(
    Layer.provide(ActEntries.layer),
    Layer.provide([LogStore.layerOf(LogKind.acts), named("acts")]),
  )
  return Layer.merge(stones, ActsLog.layer.pipe(Layer.provide(acts), Layer.provide(ActOrder.layer), Layer.fresh))
}
