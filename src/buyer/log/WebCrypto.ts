/** Hashes of a tree and signatures, with WebCrypto alone: the same in a page and in Node. */
import type { Bytes } from "../../../schema/log/Bytes.ts"
import { leafHash, nodeHash } from "../../../schema/log/Merkle.ts"
import { sha256Bytes, subtle } from "../core/Digest.ts"
import { Unproven } from "../core/Verdict.ts"

export const leaf = (entry: Uint8Array): Promise<Bytes> => leafHash(sha256Bytes, entry)

export const node = (left: Uint8Array, right: Uint8Array): Promise<Bytes> => nodeHash(sha256Bytes, left, right)

const noEd25519 =
  "This browser cannot check Ed25519 signatures, so the proof was neither confirmed nor refuted: Chrome and Edge can since version 137, Firefox since 129, Safari since 17, and so can `spirit-altar verify-proof`."

/** Whether an Ed25519 signature is valid; mixed-order signatures, which some libraries accept, are not. */
export const isSigned = async (publicKey: Bytes, message: Bytes, signature: Bytes): Promise<boolean> => {
  const key = await subtle()
    .importKey("raw", publicKey, "Ed25519", false, ["verify"])
    .catch((error: unknown) => {
      // A `DataError` means an invalid key, whose signatures are invalid, too. Any other error means that the algorithm
      // is missing.
      if (error instanceof DOMException && error.name === "DataError") return undefined
      throw new Unproven("unsupported", noEd25519)
    })
  return key !== undefined && subtle().verify("Ed25519", key, signature, message)
}
