/** SHA-256 and randomness with WebCrypto alone: the same in a browser, in Node and in a worker. */

/** Browsers provide WebCrypto only to pages from https and from this machine. */
export const canHash = (): boolean => globalThis.crypto?.subtle !== undefined

export const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

/** Lowercase hex of random bytes. */
export const randomHex = (bytes: number): string => hexOf(crypto.getRandomValues(new Uint8Array(bytes)))

export const sha256Bytes = async (bytes: BufferSource): Promise<Uint8Array> => {
  if (!canHash()) throw new TypeError("There is no WebCrypto here: a page must be loaded over https to hash.")
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
}

/** Lowercase hex SHA-256 of bytes, or of a text as UTF-8. */
export const sha256 = async (content: string | ArrayBuffer): Promise<string> =>
  hexOf(await sha256Bytes(typeof content === "string" ? new TextEncoder().encode(content) : content))
