/** The signature of a cosigner (C2SP tlog-cosignature), by Ed25519. */
import { type Bytes, Malformed, utf8 } from "./Bytes.ts"

/** The bytes that a cosigner signs, `seconds` since 1970. */
export const cosignedBytes = (seconds: number, text: string): Bytes => utf8(`cosignature/v1\ntime ${seconds}\n${text}`)

export const parseCosignature = (bytes: Bytes): { readonly seconds: number; readonly signature: Bytes } | Malformed => {
  if (bytes.length !== 72) return new Malformed("A cosignature is a time of 8 bytes and a signature of 64.")
  const seconds = bytes.subarray(0, 8).reduce((value, byte) => value * 256 + byte, 0)
  return Number.isSafeInteger(seconds)
    ? { seconds, signature: bytes.slice(8) }
    : new Malformed("The time of a cosignature is beyond 2^53 seconds.")
}
