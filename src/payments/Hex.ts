/** Schemas of hexadecimal text in node answers and payment rows. */
import { Schema, SchemaTransformation } from "effect"
import { hexToBigInt, numberToHex } from "viem"

const isHex = (pattern: RegExp) => Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(pattern))

/** Any number of digits, including none. */
export const HexText = isHex(/^0x[0-9a-fA-F]*$/u)

/** A number of at least one digit. */
export const Quantity = isHex(/^0x[0-9a-fA-F]+$/u).pipe(
  Schema.decodeTo(Schema.BigInt, SchemaTransformation.transform({ decode: hexToBigInt, encode: numberToHex })),
)

/** 32 bytes: a hash, a nonce or a topic. */
export const Word = isHex(/^0x[0-9a-fA-F]{64}$/u)

/** 20 bytes in any case. */
export const AddressText = isHex(/^0x[0-9a-fA-F]{40}$/u)

/** The same digits in lower case, the form in which hashes, nonces and addresses are stored and compared. */
export const inLowerCase = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`

/** A number or an address as one ABI word without prefix. More than 64 digits give a longer text, which is no word. */
export const wordOf = (value: bigint | `0x${string}`) =>
  (typeof value === "bigint" ? value.toString(16) : inLowerCase(value).slice(2)).padStart(64, "0")
