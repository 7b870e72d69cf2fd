/** Whose key signed an authorization: the EIP-712 digest, and libsecp256k1 to recover the key that signed it. */
import { instantiateSecp256k1 } from "@bitauth/libauth"
import { Effect } from "effect"
import { domainSeparator, type Hex, keccak256, stringToHex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import type { Terms } from "../PaymentTerms.ts"
import { wordOf } from "../Hex.ts"
import { chainIdOf, type SignedAuthorization } from "./Eip3009.ts"

/** The domain of a token's signatures. */
type Domain = Pick<Terms, "assetName" | "assetVersion" | "network">

const typeHash = keccak256(
  stringToHex(
    `TransferWithAuthorization(${transferTypes.TransferWithAuthorization.map(({ name, type }) => `${type} ${name}`).join(",")})`,
  ),
)

/** Bytes of the type's hash and six words: with a number beyond 256 bits it would be longer. */
const structLength = 7 * 32

const bytesOf = (digits: string) => Buffer.from(digits, "hex")

/** Digests of authorizations, undefined where a number does not fit its type; the token's part is made once. */
export const digests = () => {
  const prefixes = new Map<string, Uint8Array>()

  /** What every digest of this token begins with. */
  const prefixOf = ({ assetName: name, assetVersion: version, network }: Domain, asset: Address) => {
    const key = JSON.stringify([asset, name, version, network])
    const known = prefixes.get(key)
    if (known !== undefined) return known
    const chainId = chainIdOf(network)
    const separator = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } })
    const made = bytesOf(`1901${separator.slice(2)}`)
    prefixes.set(key, made)
    return made
  }

  return ({ asset, from, nonce, to, validAfter, validBefore, value }: SignedAuthorization, domain: Domain) => {
    const words = [from, to, value, validAfter, validBefore, nonce].map(wordOf).join("")
    const struct = bytesOf(`${typeHash.slice(2)}${words}`)
    return words.length === (structLength - 32) * 2 && struct.byteLength === structLength
      ? keccak256(Buffer.concat([prefixOf(domain, asset), keccak256(struct, "bytes")]), "bytes")
      : undefined
  }
}

/** r and s, and v as 0, 1, 27 or 28. */
const plainSignature = /^0x([0-9a-f]{128})(0[01]|1[bc])$/u

/** Recovers the address whose key signed a digest; undefined when the signature is not one of an ordinary wallet. */
export const makeRecover = Effect.map(
  Effect.promise(() => instantiateSecp256k1()),
  (curve) =>
    (digest: Uint8Array, signature: Hex): Address | undefined => {
      const [, compact, v] = plainSignature.exec(signature) ?? []
      if (compact === undefined || v === undefined) return undefined
      const isOdd = v === "01" || v === "1c"
      const key = curve.recoverPublicKeyUncompressed(bytesOf(compact), isOdd ? 1 : 0, digest)
      return typeof key === "string" ? undefined : `0x${keccak256(key.subarray(1)).slice(-40)}`
    },
)
