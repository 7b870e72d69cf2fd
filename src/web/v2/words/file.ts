/** SHA-256 of a file of any size, read piece by piece; the browser's own hash would need all of it in memory. */
import { sha256 } from "@noble/hashes/sha2"

/** `progress` hears the bytes that are hashed. */
export const hashFile = async (file: Blob, progress: (bytes: number) => void): Promise<Uint8Array> => {
  const hash = sha256.create()
  const reader = file.stream().getReader()
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return hash.digest()
    hash.update(value)
    bytes += value.byteLength
    progress(bytes)
  }
}
