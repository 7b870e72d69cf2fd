/** The check of a proof, offline; loaded when it is asked for. */
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { verifyProof } from "../buyer/log/StoneProof.ts"
import { plain } from "./Output.ts"
import { Trouble } from "./Trouble.ts"

const Stone = Schema.Struct({
  sequence: Schema.Int,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  previousHash: Schema.String,
  chainHash: Schema.String,
})

/** A stone by itself, and in the answers that hold one. */
const StoneFile = Schema.fromJsonString(
  Schema.Union([Stone, Schema.Struct({ stone: Stone }), Schema.Struct({ record: Stone })]),
)

export interface ProofFlags {
  readonly file: string
  readonly stone: string
  readonly vkey: string
  readonly origin: Option.Option<string>
}

/** A file as text; a proof and a stone are small. */
const read = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.mapError(fs.readFileString(path), () => new Trouble({ message: `${path} cannot be read.` })),
  )

export const checking = Effect.fn("checking")(function* ({ file, origin, stone: stoneFile, vkey }: ProofFlags) {
  const proof = yield* read(file)
  const found = yield* Effect.mapError(
    Schema.decodeEffect(StoneFile)(yield* read(stoneFile)),
    () => new Trouble({ message: `${stoneFile} is no witness stone: save what /api/witness/{id} answers.` }),
  )
  const stone = "stone" in found ? found.stone : "record" in found ? found.record : found
  const trust = { vkey, ...Option.match(origin, { onNone: () => ({}), onSome: (name) => ({ origin: name }) }) }
  const verdict = yield* Effect.promise(() => verifyProof(proof, stone, trust))
  if (!verdict.ok) return yield* new Trouble({ message: plain(`NOT PROVED (${verdict.fault}): ${verdict.reason}`) })
  yield* Console.log(
    plain(
      `Stone ${stone.sequence} is in the log ${verdict.origin}: its checkpoint over ${verdict.size} stones, signed with this key, covers it.`,
    ),
  )
  yield* Console.log(`root ${verdict.root}`)
})
