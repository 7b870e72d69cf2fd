/** Hashes and signatures by WebCrypto alone: the same in a page and in Node. */
import type { Bytes } from "../../../schema/log/Bytes.ts"
import { leafHash, nodeHash } from "../../../schema/log/Merkle.ts"

/** Nothing was proved and nothing disproved: this place cannot check. */
export class Unsupported extends Error {
  readonly _tag = "Unsupported"
}

export const sha256 = (bytes: Bytes): Promise<Bytes> =>
  globalThis.crypto?.subtle === undefined
    ? Promise.reject(new Unsupported("There is no WebCrypto here: a page must be loaded over https to check a proof."))
    : crypto.subtle.digest("SHA-256", bytes).then((digest) => new Uint8Array(digest))

export const leaf = (entry: Uint8Array): Promise<Bytes> => leafHash(sha256, entry)

export const node = (left: Uint8Array, right: Uint8Array): Promise<Bytes> => nodeHash(sha256, left, right)

const noEd25519 =
  "This browser cannot check Ed25519 signatures, so the proof was neither confirmed nor refuted: Chrome and Edge can since version 137, Firefox since 129, Safari since 17, and so can `spirit-altar verify-proof`."

/** Whether an Ed25519 signature holds; the mixed-order signatures that some libraries accept do not. */
export const isSigned = (publicKey: Bytes, message: Bytes, signature: Bytes): Promise<boolean> =>
  globalThis.crypto?.subtle === undefined
    ? Promise.reject(new Unsupported("There is no WebCrypto here: a page must be loaded over https to check a proof."))
    : crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]).then(
        (key) => crypto.subtle.verify("Ed25519", key, signature, message),
        (error: unknown) => {
          // What refuses the algorithm says nothing of the key; what refuses the key says that it signed nothing.
          if (error instanceof DOMException && error.name === "DataError") return false
          throw new Unsupported(noEd25519, { cause: error })
        },
      )
