/** Encodes an authorization and its signature as bytes, and recovers the key that signed it: a fifth of a millisecond. */
import { domainSeparator, type Hex, keccak256, stringToHex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import { chainIdOf, type SignedAuthorization } from "../chain/Eip3009.ts"
import { wordOf } from "../Hex.ts"
import type { Terms } from "../PaymentTerms.ts"

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
  const { instantiateSecp256k1 } = await import("@bitauth/libauth")
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

/** The EIP-712 domain of a token's signatures. */
type Domain = Pick<Terms, "assetName" | "assetVersion" | "network">

const typeHash = keccak256(
  stringToHex(
    `TransferWithAuthorization(${transferTypes.TransferWithAuthorization.map(({ name, type }) => `${type} ${name}`).join(",")})`,
  ),
)

/** r and s, and v as 0, 1, 27 or 28. */
const plainSignature = /^0x([0-9a-f]{128})(0[01]|1[bc])$/u

/** r, and s with the parity of y as its highest bit (EIP-2098). */
const compactSignature = /^0x([0-9a-f]{64})([0-9a-f])([0-9a-f]{63})$/u

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The one spelling that tokens accept of a key's signature: 65 bytes, v 27 or 28. Any other text is unchanged. */
export const plainly = (signature: Hex): Hex => {
  const [, r, first = "0", rest] = compactSignature.exec(signature) ?? []
  if (r !== undefined) {
    const bits = Number.parseInt(first, 16)
    return `0x${r}${(bits & 7).toString(16)}${rest}${bits < 8 ? "1b" : "1c"}`
  }
  const [, both, v] = plainSignature.exec(signature) ?? []
  return both === undefined || v === undefined ? signature : `0x${both}${v === "01" || v === "1c" ? "1c" : "1b"}`
}

/** Whether s is in the upper half, where tokens refuse it. */
export const isHighS = (signature: Hex) =>
  plainSignature.test(signature) && BigInt(`0x${signature.slice(66, 130)}`) > halfOrder

/**
 * Encodes authorizations. Undefined if a number does not fit its type, or the signature is not plain.
 * The token's prefix is cached.
 */
export const signings = () => {
  const prefixes = new Map<string, string>()

  /** The common prefix of all digests of this token. */
  const prefixOf = ({ assetName: name, assetVersion: version, network }: Domain, asset: Address) => {
    const key = JSON.stringify([asset, name, version, network])
    const known = prefixes.get(key)
    if (known !== undefined) return known
    const chainId = chainIdOf(network)
    const made = `1901${domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } }).slice(2)}`
    prefixes.set(key, made)
    return made
  }

  return (authorization: SignedAuthorization, domain: Domain): Uint8Array | undefined => {
    const { asset, from, nonce, signature, to, validAfter, validBefore, value } = authorization
    const [, compact, v] = plainSignature.exec(signature) ?? []
    if (compact === undefined || v === undefined) return undefined
    const words = [from, to, value, validAfter, validBefore, nonce].map(wordOf).join("")
    const parity = v === "01" || v === "1c" ? "01" : "00"
    const text = `${prefixOf(domain, asset)}${typeHash.slice(2)}${words}${compact}${parity}`
    const signing = Buffer.from(text, "hex")
    return text.length === signingLength * 2 && signing.byteLength === signingLength ? signing : undefined
  }
}
