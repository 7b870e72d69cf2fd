/** A log witness. It signs checkpoints of known logs that continue the ones it signed before. */
import { Clock, Context, Effect, Layer, Option, Schema, Semaphore } from "effect"
import type { AddCheckpoint } from "../../../schema/log/AddCheckpoint.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import { extendsTree } from "../Consistency.ts"
import type { Cosigner } from "../Signer.ts"
import { rootOfNothing } from "../Tree.ts"
import { isSignedBy, type Verifier } from "../Verifier.ts"
import { Memory, nameOf } from "./Memory.ts"

export interface WitnessConfig {
  readonly cosigner: Cosigner
  /** The logs it signs for, by keys whose names are their origins. */
  readonly logs: ReadonlyArray<Verifier>
}

/** Nothing was signed. `why` determines the answer to the log. */
export class NotCosigned extends Schema.TaggedError<NotCosigned>()("NotCosigned", {
  why: Schema.Literals(["malformed", "unknown", "unsigned", "elsewhere", "inconsistent"]),
  /** Size of the checkpoint signed last, if the log assumed another one. */
  size: Schema.optionalKey(Schema.Int),
  message: Schema.String,
}) {}

const refused = (why: NotCosigned["why"], message: string) => new NotCosigned({ why, message })

export class Witness extends Context.Service<Witness>()("spirit-altar/log/witness/Witness", {
  make: ({ cosigner, logs }: WitnessConfig) =>
    Effect.gen(function* () {
      const memory = yield* Memory
      const known = new Map(
        yield* Effect.forEach(logs, (verifier) =>
          Effect.map(Semaphore.make(1), (alone) => [verifier.name, { verifier, alone }] as const),
        ),
      )
      const names = new Set(logs.map(({ name }) => nameOf(name)))

      const cosign = Effect.fn("Witness.cosign")(function* ({ hashes, note, old }: AddCheckpoint) {
        const parsed = parseNote(note)
        if (parsed instanceof Malformed) return yield* refused("malformed", parsed.message)
        const [origin = ""] = parsed.text.split("\n")
        const log = known.get(origin)
        if (log === undefined) return yield* refused("unknown", "This witness does not know that log.")
        if (!isSignedBy(parsed, log.verifier)) {
          return yield* refused("unsigned", "The checkpoint is not signed with the key this witness knows the log by.")
        }
        const checkpoint = parseCheckpoint(parsed.text)
        if (checkpoint instanceof Malformed) {
          const isEmpty = parsed.text.startsWith(`${origin}\n0\n`)
          return yield* refused(isEmpty ? "inconsistent" : "malformed", checkpoint.message)
        }
        if (old > checkpoint.size) return yield* refused("malformed", "The old size is above that of the checkpoint.")
        const name = nameOf(origin)
        // One request at a time compares and replaces the last checkpoint.
        return yield* log.alone.withPermit(
          Effect.gen(function* () {
            const last = Option.map(yield* memory.recall(name), (one) => one.checkpoint)
            const { root, size } = Option.getOrElse(last, () => ({ size: 0, root: rootOfNothing }))
            if (old !== size) {
              return yield* new NotCosigned({ why: "elsewhere", size, message: `${size} was signed last.` })
            }
            if (!extendsTree({ size, root }, checkpoint, hashes)) {
              return yield* refused("inconsistent", "The proof does not lead from what was signed last to this.")
            }
            const line = cosigner.line(parsed.text, Math.floor((yield* Clock.currentTimeMillis) / 1000))
            if (line === undefined)
              return yield* refused("malformed", "This witness's key cannot sign such a checkpoint.")
            // Also a repeated signature, which is another one each time by ML-DSA-44.
            yield* memory.remember(name, note + line)
            return line
          }),
        )
      }, Effect.uninterruptible)

      return {
        /** Returns the signature line once it is recorded. */
        cosign,
        /** The checkpoint cosigned last for the log with this name; see `nameOf`. */
        newest: Effect.fn("Witness.newest")(function* (name: string) {
          return names.has(name) ? Option.map(yield* memory.recall(name), ({ note }) => note) : Option.none()
        }),
      }
    }),
}) {
  static readonly layer = (config: WitnessConfig) => Layer.effect(Witness, Witness.make(config))
}
