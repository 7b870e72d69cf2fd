/** Response compression. */
import { brotliCompress, constants, gzip } from "node:zlib"
import { Deferred, type Effect, Exit } from "effect"

/** Minimum bytes worth compressing. */
export const minimumBytes = 1024

/** `kept` is compressed once and sent often; `once` is sent once, and so is a `page`, which a phone waits for. */
export type Effort = "kept" | "once" | "page"

const gzipLevel: Record<Effort, number> = { kept: 6, once: 1, page: 4 }
const brotliQuality: Record<Effort, number> = { kept: 5, once: 1, page: 5 }

/** Starts compression at once, off the event loop. All callers that await it get the same bytes. */
export const compressed = (bytes: Uint8Array, encoding: "gzip" | "br", effort: Effort): Effect.Effect<Uint8Array> => {
  const done = Deferred.makeUnsafe<Uint8Array>()
  const finish = (error: Error | null, made: Uint8Array) =>
    void Deferred.doneUnsafe(done, error === null ? Exit.succeed(made) : Exit.die(error))
  if (encoding === "gzip") gzip(bytes, { level: gzipLevel[effort] }, finish)
  else {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality[effort],
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
    }
    brotliCompress(bytes, { params }, finish)
  }
  return Deferred.await(done)
}
