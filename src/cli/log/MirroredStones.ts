/** The altar's stones beside a mirror of its log: ids, kinds and payers, which no entry holds. */
import { Effect, Option, Schema } from "effect"
import { equal } from "../../../schema/log/Bytes.ts"
import { segmentMaximum } from "../../../schema/Common.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { bundlePath, fullWidth, widthAt } from "../../../schema/log/Tile.ts"
import * as Download from "../verify/Download.ts"
import { entriesOf, type LogSource, textOf } from "./LogSource.ts"
import type { MirrorFolder } from "./MirrorFolder.ts"

/** The members that an entry binds. All others of a stone are kept as the altar wrote them. */
export const Link = Schema.Struct({
  sequence: Schema.Int,
  commitment: Schema.String,
  witnessedAt: Schema.String,
  transaction: Schema.String,
  previousHash: Schema.String,
})

export const Stones = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))

const Segment = Schema.Struct({ entries: Stones })

/** `stones/000.json` has the stones of `tile/entries/000`. */
export const stonesPath = (index: number) =>
  `${bundlePath({ index, width: fullWidth }).replace(/^tile\/entries/u, "stones")}.json`

export const stonesIn = (text: string) => Schema.decodeOption(Schema.fromJsonString(Stones))(text)

/** Whether these stones are those of the entries, one by one. */
const areOf = (stones: typeof Stones.Type, entries: ReadonlyArray<Uint8Array>) =>
  stones.length === entries.length &&
  stones.every((stone, at) => {
    const entry = entries[at]
    return Schema.is(Link)(stone) && entry !== undefined && equal(entryOf(stone), entry)
  })

/** Copies what is missing or changed. Returns how many stones are beside the mirror, at most those of its tree. */
export const copyStones = Effect.fn("copyStones")(function* (
  altar: string,
  here: LogSource,
  folder: MirrorFolder,
  size: number,
) {
  for (let index = 0; index * fullWidth < size; index += 1) {
    const width = widthAt(size, { level: 0, index })
    const entries = yield* entriesOf(here, { index, width })
    const kept = Option.flatMap(yield* Effect.option(textOf(here, stonesPath(index))), stonesIn)
    if (Option.exists(kept, (stones) => areOf(stones, entries))) continue
    const stones: Array<(typeof Stones.Type)[number]> = []
    while (stones.length < width) {
      const from = index * fullWidth + stones.length + 1
      const limit = Math.min(segmentMaximum, width - stones.length)
      const found = yield* Effect.option(
        Download.json(`${altar}/api/witness/chain?from=${from}&limit=${limit}`, Segment),
      )
      if (Option.isNone(found) || found.value.entries.length === 0) return index * fullWidth
      stones.push(...found.value.entries)
    }
    if (!areOf(stones, entries)) return index * fullWidth
    yield* folder.write(stonesPath(index), JSON.stringify(stones))
  }
  return size
})
