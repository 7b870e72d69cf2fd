/** A mirror's folder: a log's files at the paths of C2SP tlog-tiles, for any file server. */
import { Effect, FileSystem, Option, Path } from "effect"
import { concat, equal, hex, Malformed } from "../../../schema/log/Bytes.ts"
import type { Checkpoint } from "../../../schema/log/Checkpoint.ts"
import { bundleBytes, bundlePath, fullWidth, parseBundle, tilePath, widthAt } from "../../../schema/log/Tile.ts"
import { edgePlaces, leafOf } from "../../log/Tree.ts"
import * as DurableFile from "../../platform/DurableFile.ts"
import { CommandFailure } from "../CommandFailure.ts"
import type { Copy } from "./Walk.ts"

/** Everyone may read what everyone may download. */
const forAll = 0o644

export const make = Effect.fn("MirrorFolder.make")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const inside = (name: string) => path.join(folder, name)

  const read = (name: string) => Effect.option(files.readFile(inside(name)))

  const write = (name: string, content: string | Uint8Array) =>
    files.makeDirectory(path.dirname(inside(name)), { recursive: true }).pipe(
      Effect.andThen(DurableFile.write(inside(name), content, forAll)),
      Effect.provideService(FileSystem.FileSystem, files),
      Effect.mapError(
        ({ message }) => new CommandFailure({ message: `${inside(name)} cannot be written: ${message}` }),
      ),
    )

  /** A changed or truncated bundle or tile contradicts the other, and both are downloaded again. */
  const entries: Copy["entries"] = Effect.fnUntraced(function* (bundle) {
    const bytes = yield* read(bundlePath(bundle))
    const tile = yield* read(tilePath({ ...bundle, level: 0 }))
    const found = Option.isSome(bytes) ? parseBundle(bytes.value) : new Malformed("It is missing.")
    if (found instanceof Malformed || found.length !== bundle.width) return Option.none()
    return Option.exists(tile, (hashes) => equal(hashes, concat(...found.map(leafOf))))
      ? Option.some(found)
      : Option.none()
  })

  const copy: Copy = {
    entries,
    hasTile: (tile, bytes) =>
      Effect.map(
        read(tilePath(tile)),
        Option.exists((here) => equal(here, bytes)),
      ),
    addEntries: (bundle, all) => write(bundlePath(bundle), bundleBytes(all)),
    addTile: (tile, bytes) => write(tilePath(tile), bytes),
  }

  return {
    folder,
    read,
    write,
    copy,
    /** Puts a checkpoint in its place, over files that are all there, and keeps it beside those before it. */
    publish: (note: string, { root, size }: Checkpoint) =>
      Effect.andThen(write(`checkpoints/${size}-${hex(root).slice(0, 8)}`, note), write("checkpoint", note)),
    /** Removes the partial files at the edge of an older tree whose full ones are there. */
    prune: (old: number, size: number) =>
      Effect.forEach(
        edgePlaces(old).filter((place) => place.width > 0 && widthAt(size, place) === fullWidth),
        ({ index, level }) => {
          const full = { level, index, width: fullWidth }
          const names = [tilePath(full), ...(level === 0 ? [bundlePath(full)] : [])]
          return Effect.forEach(names, (name) =>
            Effect.ignore(files.remove(inside(`${name}.p`), { recursive: true, force: true })),
          )
        },
        { discard: true },
      ),
  }
})

export type MirrorFolder = Effect.Success<ReturnType<typeof make>>
