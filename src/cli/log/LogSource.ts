/** The files of an altar's log at its URL. */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import { type Bytes, Malformed } from "../../../schema/log/Bytes.ts"
import { hashSize } from "../../../schema/log/Merkle.ts"
import { type Bundle, bundlePath, fullWidth, parseBundle, type Tile, tilePath } from "../../../schema/log/Tile.ts"
import { answerLimit } from "../../platform/Answers.ts"
import { CheckFailed, type CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import * as Download from "../verify/Download.ts"

export interface LogSource {
  readonly file: (path: string) => Effect.Effect<Bytes, CheckFailed | CommandFailure, HttpClient.HttpClient>
}

export const broken = (what: string) => new CheckFailed({ message: plain(`THE LOG IS BROKEN: ${what}`) })

/** A bundle: 256 entries of 64 kB with their lengths. */
const fileLimit = 256 * 65_537

export const at = (url: string): LogSource => ({
  file: (path) => Download.bytes(`${url}/${path}`, path === "checkpoint" ? answerLimit : fileLimit),
})

/** A cache may have dropped a partial file once the full one exists. */
const orFull = (source: LogSource, pathAt: (width: number) => string, width: number) =>
  width === fullWidth
    ? source.file(pathAt(width))
    : Effect.catchTag(source.file(pathAt(width)), "CommandFailure", (first) =>
        Effect.mapError(source.file(pathAt(fullWidth)), () => first),
      )

export const tileOf = (source: LogSource, tile: Tile) =>
  Effect.map(
    orFull(source, (width) => tilePath({ ...tile, width }), tile.width),
    (bytes) => bytes.slice(0, tile.width * hashSize),
  )

/** Exactly the entries of a bundle. */
export const entriesOf = Effect.fnUntraced(function* (source: LogSource, { index, width }: Bundle) {
  const path = bundlePath({ index, width })
  const entries = parseBundle(yield* orFull(source, (wide) => bundlePath({ index, width: wide }), width))
  if (entries instanceof Malformed) return yield* broken(`${path}: ${entries.message}`)
  // If the full bundle came instead of the partial one, use only its first `width` entries.
  if (entries.length !== width && entries.length !== fullWidth) {
    return yield* broken(`${path} has ${entries.length} entries.`)
  }
  return entries.slice(0, width)
})
