/** Encodes an authorization and its signature as bytes, for recovering the key. */
import { domainSeparator, keccak256, stringToHex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import type { Terms } from "../PaymentTerms.ts"
import { wordOf } from "../Hex.ts"
import { chainIdOf, type SignedAuthorization } from "../chain/Eip3009.ts"
import { signingLength } from "./SigningKey.ts"

/** The EIP-712 domain of a token's signatures. */
type Domain = Pick<Terms, "assetName" | "assetVersion" | "network">

const typeHash = keccak256(
  stringToHex(
    `TransferWithAuthorization(${transferTypes.TransferWithAuthorization.map(({ name, type }) => `${type} ${name}`).join(",")})`,
  ),
)

/** r and s, and v as 0, 1, 27 or 28. */
const plainSignature = /^0x([0-9a-f]{128})(0[01]|1[bc])$/u

/**
 * Encodes authorizations for the thread. Undefined if a number does not fit its type, or the signature is not plain.
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
