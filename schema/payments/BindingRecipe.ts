/**
 * A payment bound to its request: the buyer derives the EIP-3009 nonce from method, URL, body and a salt. The transfer
 * then proves which request it paid, without this server.
 */
import type { Schema } from "effect"
import { type Bytes, concat, hex, utf8 } from "../log/Bytes.ts"
import { canonicalJson } from "./CanonicalJson.ts"

/** The first eight bytes of a bound nonce: ASCII `altar/b1`. They tell a bound nonce from a random one. */
export const bindingMarker = "0x616c7461722f6231"

const purpose = "spirit-altar/bound/1"

/** Bytes of the hash in a nonce, after the marker. */
const hashBytes = 24

/** Bounds of a salt in bytes. It keeps the nonce from confirming guesses of a body. */
export const bindingSaltMinimum = 16
export const bindingSaltMaximum = 32

/** The x402 extension. */
export const bindingExtension = "request-binding"

/** A request as its payment names it: the method, the offer's `resource.url`, and the SHA-256 of its body. */
export interface BoundRequest {
  readonly method: string
  readonly url: string
  /** Lowercase hex SHA-256 of `bodyText`. */
  readonly bodySha256: string
}

/** The text of a body that is hashed: canonical JSON (RFC 8785) of what was sent. An absent body is `{}`. */
export const bodyText = (body: Schema.Json): string => canonicalJson(body)

/** The bytes whose SHA-256 makes the nonce: purpose, method, URL, body hash and salt, joined by NUL. */
export const boundBytes = ({ bodySha256, method, url }: BoundRequest, salt: Uint8Array): Bytes =>
  concat(utf8(`${purpose}\0${method}\0${url}\0${bodySha256}\0`), salt)

/** The nonce: the marker and the first 24 bytes of the digest of `boundBytes`. */
export const nonceOf = (digest: Uint8Array): `0x${string}` => `${bindingMarker}${hex(digest.subarray(0, hashBytes))}`

/** Whether a nonce says that it is bound. */
export const isMarked = (nonce: string): boolean => nonce.toLowerCase().startsWith(bindingMarker)

/** The bytes of a salt in base64url; undefined for any other text, or another length. */
export const saltBytes = (salt: string): Bytes | undefined => {
  if (!/^[A-Za-z0-9_-]{22,43}$/u.test(salt) || salt.length % 4 === 1) return undefined
  const binary = atob(salt.replaceAll("-", "+").replaceAll("_", "/"))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
