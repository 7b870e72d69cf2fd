/** How the bytes of an answer travel: which encoding a client takes (RFC 9110 §12.5.3), and how it is made. */
import { brotliCompress, constants, gzip } from "node:zlib"
import { Deferred, type Effect, Exit } from "effect"

export type Encoding = "identity" | "gzip" | "br"

/** Bytes below which nothing is compressed: it would hardly be shorter. */
export const leastBytes = 1024

const qualityOf = (parameters: ReadonlyArray<string>) => {
  const quality = parameters.map((one) => one.trim().toLowerCase()).find((one) => one.startsWith("q="))
  return quality === undefined ? 1 : Number(quality.slice(2)) || 0
}

const chosen = (header: string): Encoding => {
  const qualities = new Map(
    header.split(",").map((one) => {
      const [name = "", ...parameters] = one.split(";")
      return [name.trim().toLowerCase(), qualityOf(parameters)]
    }),
  )
  const rated = (encoding: Encoding) => qualities.get(encoding) ?? qualities.get("*") ?? 0
  const [br, gz] = [rated("br"), rated("gzip")]
  if (br <= 0 && gz <= 0) return "identity"
  // Whoever likes plain bytes better says so; who does not mention them takes what is short.
  if ((qualities.get("identity") ?? 0) > Math.max(br, gz)) return "identity"
  return br >= gz ? "br" : "gzip"
}

const known = new Map<string, Encoding>()

/** Clients send few spellings, all of them again and again. */
const mostKnown = 256

export const encodingFor = (header: string | undefined): Encoding => {
  if (header === undefined) return "identity"
  const before = known.get(header)
  if (before !== undefined) return before
  const encoding = chosen(header)
  if (known.size < mostKnown && header.length <= 200) known.set(header, encoding)
  return encoding
}

/** `kept` is made once and sent often, `once` is sent once. */
export type Effort = "kept" | "once"

const gzipLevel: Record<Effort, number> = { kept: 6, once: 1 }
const brotliQuality: Record<Effort, number> = { kept: 5, once: 1 }

/** Begins to compress at once, beside the event loop; whoever awaits it, any number of them, gets the same bytes. */
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
