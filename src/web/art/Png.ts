/** A PNG from its chunks, for any compressor. */
import { crc32 } from "node:zlib"

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const chunk = ([type, data]: readonly [type: string, data: Uint8Array]) => {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data])
  return Buffer.concat([uint32(data.length), typed, uint32(crc32(typed))])
}

export const png = (
  width: number,
  height: number,
  depth: number,
  chunks: ReadonlyArray<readonly [type: string, data: Uint8Array]>,
): Uint8Array => {
  const head = Buffer.concat([uint32(width), uint32(height), Uint8Array.of(depth, 3, 0, 0, 0)])
  const all = [["IHDR", head], ...chunks, ["IEND", new Uint8Array(0)]] as const
  return Buffer.concat([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), ...all.map(chunk)])
}
