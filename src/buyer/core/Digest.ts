/** SHA-256 and randomness with WebCrypto alone: the same in a browser, in Node and in a worker. */
import { type Bytes, hex } from "../../../schema/log/Bytes.ts"
import { Unproven } from "./Verdict.ts"

/** Browsers provide WebCrypto only to pages from https and from this machine. */
export const canHash = (): boolean => globalThis.crypto?.subtle !== undefined

/** Lowercase hex of random bytes. */
export const randomHex = (bytes: number): string => hex(crypto.getRandomValues(new Uint8Array(bytes)))

export const subtle = (): SubtleCrypto => {
  if (canHash()) return globalThis.crypto.subtle
  throw new Unproven("unsupported", "There is no WebCrypto here: a page must be loaded over https to hash.")
}

export const sha256Bytes = async (bytes: BufferSource): Promise<Bytes> =>
  new Uint8Array(await subtle().digest("SHA-256", bytes))

/** Lowercase hex SHA-256 of bytes, or of a text as UTF-8. */
export const sha256 = async (content: string | ArrayBuffer): Promise<string> =>
  hex(await sha256Bytes(typeof content === "string" ? new TextEncoder().encode(content) : content))
