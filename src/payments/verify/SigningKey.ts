/** Recovers the key that signed an authorization. It runs in a thread, so it imports nothing of ours. */
import { instantiateSecp256k1 } from "@bitauth/libauth"
import { keccak256 } from "viem/utils"

/** Offsets in a signing: the digest's prefix, the type's hash with six words, r and s, the parity of y. */
const structAt = 34
const signatureAt = structAt + 7 * 32
const parityAt = signatureAt + 64
/** Bytes of a signing. A number beyond 256 bits would make it longer. */
export const signingLength = parityAt + 1
/** The payer's address is the end of the first word. */
const payer = [structAt + 44, structAt + 64] as const

/** The EIP-712 digest that was signed. */
export const digestOf = (signing: Uint8Array): Uint8Array => {
  const struct = keccak256(signing.subarray(structAt, signatureAt), "bytes")
  return keccak256(Buffer.concat([signing.subarray(0, structAt), struct]), "bytes")
}

/** Recovers the address whose key signed; undefined if no key can have. */
export const makeRecover = async () => {
  const curve = await instantiateSecp256k1()
  return (signing: Uint8Array): Uint8Array | undefined => {
    const parity = signing[parityAt] === 1 ? 1 : 0
    const signature = signing.subarray(signatureAt, parityAt)
    const key = curve.recoverPublicKeyUncompressed(signature, parity, digestOf(signing))
    return typeof key === "string" ? undefined : keccak256(key.subarray(1), "bytes").subarray(-20)
  }
}

export const makeIsSigned = async () => {
  const recover = await makeRecover()
  return (signing: Uint8Array): boolean => {
    const signer = recover(signing)
    return signer !== undefined && Buffer.compare(signer, signing.subarray(...payer)) === 0
  }
}
