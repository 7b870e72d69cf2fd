/** `log prove`: a `.tlog-proof` from the files of a mirror alone, when the log itself is gone. */
import { Console, Effect, FileSystem, Option, Path, Schema } from "effect"
import type { Command } from "effect/cli"
import { concat, fromDecimal, hex, Malformed } from "../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { parseEntry } from "../../../schema/log/Entry.ts"
import { inclusionRanges } from "../../../schema/log/Merkle.ts"
import { parseNote } from "../../../schema/log/Note.ts"
import { proofFileText } from "../../../schema/log/ProofFile.ts"
import { fullWidth, widthAt } from "../../../schema/log/Tile.ts"
import { includes } from "../../buyer/log/MerkleProofs.ts"
import { leafOf, proofOf, sha256 } from "../../log/Tree.ts"
import { command, text, optionalText, word } from "../Define.ts"
import { plain } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as Download from "../verify/Download.ts"
import { at, broken, entriesOf, inFolder, type LogSource, textOf, tilesOf } from "./LogSource.ts"
import { Link, stonesIn, stonesPath } from "./MirroredStones.ts"

const flags = {
  stone: word("stone", "The stone's id or its sequence; of any other log the number of the entry, from 1"),
  mirror: text("mirror", "Folder of a mirror, or the URL that serves one", "place"),
  out: optionalText("out", "Name of both files without their endings (else stone-N or entry-N)", "file"),
}

type Flags = Command.Command.Config.Infer<typeof flags>

const checkpointOf = Effect.fnUntraced(function* (mirror: LogSource) {
  const note = yield* textOf(mirror, "checkpoint")
  const parsed = parseNote(note)
  const checkpoint = parsed instanceof Malformed ? parsed : parseCheckpoint(parsed.text)
  return checkpoint instanceof Malformed
    ? yield* broken(`${mirror.name}/checkpoint: ${checkpoint.message}`)
    : { note, checkpoint }
})

/** The stones beside a bundle, where the mirror has them. */
const stonesAt = (mirror: LogSource, index: number) =>
  Effect.map(Effect.option(textOf(mirror, stonesPath(index))), Option.flatMap(stonesIn))

/** Ids stand only in the stones beside a mirror, which are read one file after the other. */
const sequenceOf = Effect.fnUntraced(function* (mirror: LogSource, size: number, named: string) {
  const sequence = fromDecimal(named)
  if (sequence !== undefined && sequence > 0 && sequence <= size) return sequence
  if (sequence !== undefined) {
    return yield* new CommandFailure({
      message: `The checkpoint of ${mirror.name} covers ${size} entries, and not ${named}.`,
    })
  }
  for (let index = 0; index * fullWidth < size; index += 1) {
    const stones = Option.getOrElse(yield* stonesAt(mirror, index), () => [])
    const stone = stones.find(({ id }) => id === named)
    if (Schema.is(Link)(stone)) return stone.sequence
  }
  return yield* new CommandFailure({
    message: `${mirror.name} has no stone ${named} beside it. Name the stone's sequence.`,
  })
})

/** The files' own proof, checked before it is written. */
export const proveFrom = Effect.fn("proveFrom")(function* (mirror: LogSource, named: string) {
  const { checkpoint, note } = yield* checkpointOf(mirror)
  const { size } = checkpoint
  const sequence = yield* sequenceOf(mirror, size, named)
  const index = sequence - 1
  const bundle = Math.floor(index / fullWidth)
  const entries = yield* entriesOf(mirror, { index: bundle, width: widthAt(size, { level: 0, index: bundle }) })
  const entry = entries[index % fullWidth] ?? new Uint8Array()
  const ranges = inclusionRanges(index, size)
  const hashes = proofOf(ranges, yield* tilesOf(mirror, ranges, size))?.map((hash) => concat(hash))
  if (hashes === undefined || !(yield* Effect.promise(() => includes(checkpoint, index, leafOf(entry), hashes)))) {
    return yield* broken(`the files of ${mirror.name} do not prove entry ${sequence}: run its mirror again.`)
  }
  const link = parseEntry(entry)
  const beside = Option.flatMapNullishOr(yield* stonesAt(mirror, bundle), (stones) => stones[index % fullWidth])
  const stone =
    link instanceof Malformed
      ? undefined
      : { ...Option.getOrElse(beside, () => ({})), ...link, chainHash: hex(sha256(entry)) }
  return {
    sequence,
    origin: checkpoint.origin,
    size,
    proof: proofFileText({ extra: undefined, index, hashes, checkpoint: note }),
    entry,
    stone,
  }
})

export const proving = Effect.fn("proving")(function* ({ mirror: place, out, stone: named }: Flags) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const mirror = /^https?:/u.test(place) ? at(place.replace(/\/+$/u, "")) : yield* inFolder(path.resolve(place))
  const { entry, origin, proof, sequence, size, stone } = yield* proveFrom(mirror, named)
  const base = Option.getOrElse(out, () => `${stone === undefined ? "entry" : "stone"}-${sequence}`)
  const data = stone === undefined ? `${base}.entry` : `${base}.json`
  const bytes = stone === undefined ? entry : new TextEncoder().encode(`${JSON.stringify(stone, undefined, 2)}\n`)
  yield* Effect.mapError(
    Effect.andThen(files.writeFileString(`${base}.tlog-proof`, proof), files.writeFile(data, bytes)),
    () => new CommandFailure({ message: `${base}.tlog-proof or ${data} cannot be written.` }),
  )
  yield* Console.log(plain(`${base}.tlog-proof proves ${data}, entry ${sequence} of ${size} of ${origin}.`))
  yield* Console.log(
    plain(
      `NOT checked: the signatures. spirit-altar verify-proof ${base}.tlog-proof --${stone === undefined ? "entry" : "stone"} ${data} --vkey '${origin}+…'`,
    ),
  )
}, Effect.provide(Download.plainClient))

export const prove = command("prove", {
  description:
    "Write a stone and its proof from the files of a mirror, without its server. Any other log's entry is written unchanged. verify-proof checks both",
  summary: "Prove a stone from a mirror's files",
  examples: [
    ["spirit-altar log prove 417 --mirror ./mirror", "By its sequence, from a folder"],
    [
      "spirit-altar log prove 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1 --mirror https://mirror.example/altar",
      "By its id, from someone else's mirror",
    ],
  ],
  flags,
  run: proving,
})
