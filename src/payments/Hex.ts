/** Hexadecimal text as schemas: what nodes answer with, and what rows keep of payments. */
import { Schema } from "effect"

const isHex = (pattern: RegExp) => Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(pattern))

/** Any number of digits, none included. */
export const HexText = isHex(/^0x[0-9a-fA-F]*$/u)

/** A number; at least one digit. */
export const Quantity = isHex(/^0x[0-9a-fA-F]+$/u)

/** 32 bytes: a hash, a nonce, a topic. */
export const Word = isHex(/^0x[0-9a-fA-F]{64}$/u)

/** 20 bytes, spelled in any case. */
export const AddressText = isHex(/^0x[0-9a-fA-F]{40}$/u)

/** The same digits in small letters: hashes, nonces and addresses are kept and compared so. */
export const inLowerCase = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`

/** A number or an address as one word of the ABI, without its prefix; what has more than 64 digits is no word. */
export const wordOf = (value: bigint | `0x${string}`) =>
  (typeof value === "bigint" ? value.toString(16) : inLowerCase(value).slice(2)).padStart(64, "0")
