/** The served artwork: path, hash, size and dimensions of each file, read once. */
import { Effect, FileSystem, Path } from "effect"
import type { PublicationManifest } from "../../schema/altar/Catalog.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import { sha256 } from "./Hashes.ts"

/** The artwork's folder and the URL path that serves it. */
export const folder = new URL("src/web/art/", packageRoot)
export const prefix = "/art"

/** A PNG has width and height at byte 16, big-endian. */
const pngSize = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

/** All drawings share one square canvas. */
const svgSize = { width: 256, height: 256 }

/** `file` is relative to the artwork folder: `pixels/pixel-bit-frog.png`. */
export const load = Effect.fn("Artwork.load")(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const bytes = yield* fs.readFile(path.join(yield* path.fromFileUrl(folder), file))
  const isPng = file.endsWith(".png")
  const artwork: (typeof PublicationManifest.Type)["artwork"] = {
    path: `${prefix}/${file}`,
    sha256: sha256(bytes),
    mimeType: isPng ? "image/png" : "image/svg+xml",
    bytes: bytes.byteLength,
    ...(isPng ? pngSize(bytes) : svgSize),
  }
  return artwork
})
